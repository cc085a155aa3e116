/** Server-sent events as servers and proxies frame them in practice. */
import type { JsonObject } from "../../../../src/domain/common/json.js";
import { CUT, cutBytes } from "../../replays/replay-server.js";
import {
  because,
  block,
  ended,
  finished,
  type FramingCase,
  input,
  over,
  textDelta,
  start,
  stop,
  text,
  toolCall,
  toolInput,
  used,
} from "./events.js";

/** One event as Anthropic frames it. */
export const frame = (event: JsonObject): string =>
  `event: ${typeof event.type === "string" ? event.type : "?"}\ndata: ${JSON.stringify(event)}\n\n`;
const frames = (events: JsonObject[]) => events.map(frame).join("");

const HELLO = [start(), ...text(0, "Grüße 🌍"), ...ended];
const EXPECTED_PARTS = [used(), textDelta("Grüße 🌍"), ...finished()];
const CALL = [
  start(),
  block(0, { type: "tool_use", id: "a", name: "execute", input: {} }),
  input(0, '{"command":"echo 🌍"}'),
  stop(0),
  because("tool_use"),
  over,
];
const whole = frames(HELLO);
const at = (text: string, fragment: string, extra: number) =>
  Buffer.byteLength(text.slice(0, text.indexOf(fragment))) + extra;
const called = frames(CALL);
const escaped = whole.replace("🌍", "\\ud83c\\udf0d");

export const FRAMING_CASES: FramingCase[] = [
  { name: "lines that end in CR LF", chunks: [whole.replaceAll("\n", "\r\n")], parts: EXPECTED_PARTS },
  { name: "lines that end in CR", chunks: [whole.replaceAll("\n", "\r")], parts: EXPECTED_PARTS },
  {
    name: "CR and LF in two packets",
    chunks: whole.replaceAll("\n", "\r\n").split(/(?<=\r)/),
    parts: EXPECTED_PARTS,
  },
  { name: "no space behind the colon", chunks: [whole.replaceAll(": ", ":")], parts: EXPECTED_PARTS },
  { name: "a byte order mark first", chunks: [`\ufeff${whole}`], parts: EXPECTED_PARTS },
  {
    name: "comments, ids and waits between the events",
    chunks: [`: hello\n\nretry: 9\nid: 1\n\n${whole.replaceAll("\n\n", "\nid: 7\n\n: keep-alive\n\n")}`],
    parts: EXPECTED_PARTS,
  },
  {
    name: "data over several lines",
    chunks: [whole.replaceAll(',"', ',\ndata: "')],
    parts: EXPECTED_PARTS,
  },
  { name: "escaped characters", chunks: [escaped], parts: EXPECTED_PARTS },
  {
    name: "a character of the text in four packets",
    chunks: cutBytes(whole, at(whole, "🌍", 1), at(whole, "🌍", 2), at(whole, "🌍", 3)),
    parts: EXPECTED_PARTS,
  },
  {
    name: "a character of the arguments in two packets",
    chunks: cutBytes(called, at(called, "🌍", 2)),
    parts: [
      used(),
      toolInput("a", '{"command":"echo 🌍"}'),
      toolCall("a", { command: "echo 🌍" }),
      ...finished("tool-calls"),
    ],
  },
  {
    name: "every byte in its own packet",
    chunks: cutBytes(whole, ...Buffer.from(whole).keys()),
    parts: EXPECTED_PARTS,
  },
  { name: "everything in one packet", chunks: [whole], parts: EXPECTED_PARTS },
  {
    name: "events without a name, which are not the vendor's",
    chunks: [`data: {"type":"noise"}\n\n${whole}`],
    parts: EXPECTED_PARTS,
  },
  { name: "an event without data", chunks: [`event: message_start\n\n${whole}`], parts: EXPECTED_PARTS },
  {
    name: "data that is no JSON",
    chunks: [frame(start()), "event: content_block_start\ndata: {oops\n\n"],
    parts: [used()],
    failure: { kind: "generic", isRetryable: true },
  },
  {
    name: "an error that is no JSON",
    chunks: [frame(start()), "event: error\ndata: upstream connect error: connection reset\n\n"],
    parts: [used()],
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "an end in the middle of a line",
    chunks: [
      frame(start()),
      whole.slice(whole.indexOf("event: content_block_start"), whole.indexOf("🌍")),
      CUT,
    ],
    parts: [used()],
    failure: { kind: "timeout", isRetryable: true },
  },
];
