/** Framing of Gemini's events: variants, cuts and damage. */
import { cutBytes, CUT } from "../../replays/replay-server.js";
import {
  CUT_FAILURE,
  event,
  finished,
  type GoogleReplay,
  parts,
  textDelta,
  singleBytes,
  stop,
  words,
} from "./events.js";

const LONG = "x".repeat(1_000_000);
const withLf = (text: string) => text.replaceAll("\r\n", "\n");
const error = (code: number, status: string, message: string) => event({ error: { code, message, status } });

export const FRAMING_CASES: GoogleReplay[] = [
  {
    name: "text in three events",
    chunks: [words("Hel"), words("lo "), words("wörld 🌍"), stop()],
    parts: [textDelta("Hel"), textDelta("lo "), textDelta("wörld 🌍"), finished()],
  },
  {
    name: "all events in one chunk",
    chunks: [words("a") + words("b") + stop()],
    parts: [textDelta("a"), textDelta("b"), finished()],
  },
  {
    name: "each byte in a chunk of its own",
    chunks: singleBytes(words("größer 🌍") + stop()),
    parts: [textDelta("größer 🌍"), finished()],
  },
  {
    name: "a character cut in two, and the line end as well",
    chunks: [...cutBytes(words("ö"), words("ö").indexOf("ö") + 1, Buffer.byteLength(words("ö")) - 1), stop()],
    parts: [textDelta("ö"), finished()],
  },
  {
    name: "bare line feeds",
    chunks: [withLf(words("a")), withLf(stop())],
    parts: [textDelta("a"), finished()],
  },
  {
    name: "bare carriage returns",
    chunks: [words("a").replaceAll("\r\n", "\r"), stop().replaceAll("\r\n", "\r")],
    parts: [textDelta("a"), finished()],
  },
  {
    name: "no space behind the colon",
    chunks: [words("a").replace("data: ", "data:"), stop()],
    parts: [textDelta("a"), finished()],
  },
  {
    name: "pings, blank lines and a last marker",
    chunks: [": ping\n\n", "\n\n", words("a"), ": ping\r\n\r\n", stop(), ": done\n\n"],
    parts: [textDelta("a"), finished()],
  },
  {
    name: "one very long delta",
    chunks: [words(LONG), stop()],
    parts: [textDelta(LONG), finished()],
  },
  {
    name: "the same event twice",
    chunks: [words("a"), words("a"), stop(), stop()],
    parts: [textDelta("a"), textDelta("a"), finished()],
  },
  {
    name: "fields and kinds of parts that are not known yet",
    chunks: [
      event({
        candidates: [{ content: { parts: [{ text: "a", mood: "good" }] }, index: 0, novelty: 1 }],
        odd: [],
      }),
      parts([{ executableCode: { language: "PYTHON", code: "1" } }, { hologram: {} }]),
      parts([{ inlineData: { mimeType: "image/png", data: "AA==" } }]),
      event({ somethingElse: true }),
      stop(),
    ],
    parts: [textDelta("a"), finished()],
  },
  {
    name: "candidates, contents and parts left out",
    chunks: [
      event({}),
      event({ candidates: [] }),
      event({ candidates: [{}] }),
      event({ candidates: [{ content: {} }] }),
      event({ candidates: [{ content: { parts: [] } }] }),
      event({ candidates: [{ content: { parts: [{}] } }] }),
      words("a"),
      stop(),
    ],
    parts: [textDelta("a"), finished()],
  },
  {
    name: "a second candidate",
    chunks: [
      event({
        candidates: [
          { content: { parts: [{ text: "no" }] }, index: 1, finishReason: "SAFETY" },
          { content: { parts: [{ text: "yes" }] }, index: 0 },
        ],
      }),
      stop(),
    ],
    parts: [textDelta("yes"), finished()],
  },
  { name: "an empty answer", chunks: [stop({ content: { role: "model" } })], parts: [finished()] },
  { name: "nothing at all", chunks: [], parts: [], failure: CUT_FAILURE },
  { name: "an end without a reason", chunks: [words("a")], parts: [textDelta("a")], failure: CUT_FAILURE },
  {
    name: "an end in the middle of an event",
    chunks: [words("a"), words("b").slice(0, 20)],
    parts: [textDelta("a")],
    failure: CUT_FAILURE,
  },
  { name: "a cut connection", chunks: [words("a"), CUT], parts: [textDelta("a")], failure: CUT_FAILURE },
  {
    name: "an event that is no JSON",
    chunks: [words("a"), 'data: {"candidates": oops}\r\n\r\n', stop()],
    parts: [textDelta("a")],
    failure: { kind: "generic", isRetryable: true },
  },
  {
    name: "an event whose JSON ends too early",
    chunks: [words("a"), 'data: {"candidates":\r\n\r\n', stop()],
    parts: [textDelta("a")],
    failure: { kind: "generic", isRetryable: true },
  },
  {
    name: "an overload in the middle",
    chunks: [words("a"), error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")],
    parts: [textDelta("a")],
    failure: {
      kind: "overloaded",
      isRetryable: true,
      detail: "The model is overloaded. Please try again later.",
    },
  },
  {
    name: "a silent server in the middle",
    chunks: [words("a"), error(503, "UNAVAILABLE", "Try later.")],
    parts: [textDelta("a")],
    failure: { kind: "timeout", isRetryable: true, detail: "Try later." },
  },
  {
    name: "a used-up minute in the middle",
    chunks: [
      words("a"),
      error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, check your billing."),
    ],
    parts: [textDelta("a")],
    failure: { kind: "rate_limited", isRetryable: true },
  },
  {
    name: "an internal error in the middle",
    chunks: [words("a"), error(500, "INTERNAL", "Oh.")],
    parts: [textDelta("a")],
    failure: { kind: "generic", isRetryable: true, detail: "Oh." },
  },
  {
    name: "an error instead of events, without their framing",
    chunks: [JSON.stringify({ error: { code: 500, message: "Oh.", status: "INTERNAL" } })],
    parts: [],
    failure: { kind: "generic", isRetryable: true, detail: "Oh." },
  },
  {
    name: "an error without a code",
    chunks: [words("a"), event({ error: { message: "Oh." } })],
    parts: [textDelta("a")],
    failure: CUT_FAILURE,
  },
];
