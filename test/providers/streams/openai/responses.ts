/** Recorded streams of the Responses API, and the exact parts expected of them: text and reasoning. */
import {
  brokenBytes,
  called,
  FINISH_STOP,
  type ReplayCase,
  textDelta,
  thought,
  typed,
  used,
} from "../../replays/openai-replay.js";
import * as wire from "./responses-events.js";

const USED = used({ inputTokens: 10, outputTokens: 5 });
const ENDED = [USED, FINISH_STOP];
const CALLS_ENDED = [USED, { type: "finish", reason: "tool-calls" } as const];
const hello = wire.message({ deltas: ["Hel", "lo"] });
const encrypted = (itemId = "rs_1") => ({
  type: "reasoning-end" as const,
  providerMetadata: { openai: { itemId, encryptedContent: "gAAAenc" } },
});

export const RESPONSES_CASES: ReplayCase[] = [
  {
    name: "text",
    chunks: [...wire.opened, ...hello, wire.completed()],
    parts: [textDelta("Hel"), textDelta("lo"), ...ENDED],
  },
  {
    name: "CRLF line ends",
    chunks: [...wire.opened, ...hello, wire.completed()].map((chunk) => chunk.replaceAll("\n", "\r\n")),
    parts: [textDelta("Hel"), textDelta("lo"), ...ENDED],
  },
  {
    name: "comments, retry fields, keepalives and blank lines between events",
    chunks: [
      ": ping\n\n",
      wire.created,
      "retry: 3000\n\n\n\n",
      wire.event("keepalive"),
      ...hello,
      ":\n\n",
      wire.completed(),
    ],
    parts: [textDelta("Hel"), textDelta("lo"), ...ENDED],
  },
  {
    name: "everything in one packet, with a [DONE] that this format does not have",
    chunks: [[...wire.opened, ...hello, wire.completed(), "data: [DONE]\n\n"].join("")],
    parts: [textDelta("Hel"), textDelta("lo"), ...ENDED],
  },
  {
    name: "every byte in its own packet, through characters of four bytes",
    chunks: brokenBytes([...wire.message({ deltas: ["wörld 🌍", "日本"] }), wire.completed()].join("")),
    parts: [textDelta("wörld 🌍"), textDelta("日本"), ...ENDED],
  },
  {
    name: "one very long delta",
    chunks: [...wire.message({ deltas: ["x".repeat(3_000_000)] }), wire.completed()],
    parts: [textDelta("x".repeat(3_000_000)), ...ENDED],
  },
  { name: "an empty answer", chunks: [...wire.opened, wire.completed()], parts: ENDED },
  {
    name: "empty deltas",
    chunks: [...wire.message({ deltas: ["", "a", ""] }), wire.completed()],
    parts: [textDelta("a"), ...ENDED],
  },
  {
    name: "a queued response and events that are new to us",
    chunks: [
      wire.event("response.queued", { response: wire.response({ status: "queued" }) }),
      wire.event("response.tomorrow", { anything: 1 }),
      wire.added(0, { type: "compaction", id: "c", encrypted_content: "x" }),
      wire.done(0, { type: "compaction", id: "c", encrypted_content: "x" }),
      ...wire.message({ index: 1, deltas: ["a"] }),
      wire.completed(),
    ],
    parts: [textDelta("a"), ...ENDED],
  },
  {
    name: "a refusal",
    chunks: [
      wire.added(0, { type: "message", id: "m", role: "assistant", status: "in_progress", content: [] }),
      wire.event("response.refusal.delta", {
        item_id: "m",
        output_index: 0,
        content_index: 0,
        delta: "I can",
      }),
      wire.event("response.refusal.delta", {
        item_id: "m",
        output_index: 0,
        content_index: 0,
        delta: "not.",
      }),
      wire.event("response.refusal.done", {
        item_id: "m",
        output_index: 0,
        content_index: 0,
        refusal: "I cannot.",
      }),
      wire.done(0, {
        type: "message",
        id: "m",
        role: "assistant",
        content: [{ type: "refusal", refusal: "I cannot." }],
      }),
      wire.completed(),
    ],
    parts: [textDelta("I can"), textDelta("not."), ...ENDED],
  },
  {
    name: "a message that did not stream",
    chunks: [
      wire.done(0, {
        type: "message",
        id: "m",
        role: "assistant",
        content: [
          { type: "output_text", text: "whole", annotations: [wire.urlCitation("https://a.example", "A")] },
        ],
      }),
      wire.completed(),
    ],
    parts: [textDelta("whole"), { type: "source", url: "https://a.example", title: "A" }, ...ENDED],
  },
  {
    name: "a server that streams nothing but the end",
    chunks: [
      wire.completed({
        output: [
          { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "all" }] },
          { type: "function_call", id: "f", call_id: "c", name: "execute", arguments: '{"command":"a"}' },
        ],
      }),
    ],
    parts: [textDelta("all"), called("c", "execute", { command: "a" }), ...CALLS_ENDED],
  },
  {
    name: "commentary and the final answer, with their phases",
    chunks: [
      ...wire.message({ deltas: ["I look."], phase: "commentary" }),
      ...wire.message({ index: 1, id: "msg_2", deltas: ["It is", " so."], phase: "final_answer" }),
      wire.completed(),
    ],
    parts: [
      textDelta("I look."),
      { type: "text-end", providerMetadata: { openai: { phase: "commentary" } } },
      textDelta("It is"),
      textDelta(" so."),
      { type: "text-end", providerMetadata: { openai: { phase: "final_answer" } } },
      ...ENDED,
    ],
  },
  {
    name: "two messages without phases",
    chunks: [
      ...wire.message({ deltas: ["one."] }),
      ...wire.message({ index: 1, id: "msg_2", deltas: ["two."] }),
      wire.completed(),
    ],
    parts: [textDelta("one."), { type: "text-end" }, textDelta("two."), ...ENDED],
  },
  {
    name: "reasoning in two paragraphs before the text",
    chunks: [
      ...wire.reasoning({ summaries: [["one ", "and"], ["two"]] }),
      ...wire.message({ index: 1, deltas: ["so"] }),
      wire.completed({ usage: wire.usage(20, 30, { cached: 15, reasoning: 25 }) }),
    ],
    parts: [
      thought("one "),
      thought("and"),
      thought("\n\n"),
      thought("two"),
      encrypted(),
      textDelta("so"),
      used({ inputTokens: 5, cacheReadTokens: 15, outputTokens: 30, reasoningTokens: 25 }),
      FINISH_STOP,
    ],
  },
  {
    name: "reasoning that is hidden",
    chunks: [
      ...wire.reasoning({ summaries: [] }),
      ...wire.message({ index: 1, deltas: ["so"] }),
      wire.completed(),
    ],
    parts: [encrypted(), textDelta("so"), ...ENDED],
  },
  {
    name: "reasoning without its encrypted content",
    chunks: [
      ...wire.reasoning({ summaries: [["hm"]], encrypted: null }),
      ...wire.message({ index: 1, deltas: ["so"] }),
      wire.completed(),
    ],
    parts: [thought("hm"), { type: "reasoning-end" }, textDelta("so"), ...ENDED],
  },
  {
    name: "two reasoning items around a call",
    chunks: [
      ...wire.reasoning({ summaries: [["a"]] }),
      ...wire.wholeCall({ index: 1, fragments: ["{}"] }),
      ...wire.reasoning({ index: 2, id: "rs_2", summaries: [["b"]] }),
      ...wire.wholeCall({ index: 3, id: "fc_2", callId: "call_2", fragments: ["{}"] }),
      wire.completed(),
    ],
    parts: [
      thought("a"),
      encrypted(),
      typed("call_1", "execute", "{}"),
      called("call_1", "execute", {}),
      thought("b"),
      encrypted("rs_2"),
      typed("call_2", "execute", "{}"),
      called("call_2", "execute", {}),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "the plain thoughts of an open model",
    kind: "openai_compatible",
    chunks: [
      wire.added(0, { type: "reasoning", id: "rs_1", summary: [] }),
      wire.event("response.reasoning_text.delta", {
        item_id: "rs_1",
        output_index: 0,
        content_index: 0,
        delta: "hm",
      }),
      wire.event("response.reasoning_text.done", {
        item_id: "rs_1",
        output_index: 0,
        content_index: 0,
        text: "hm",
      }),
      wire.done(0, {
        type: "reasoning",
        id: "rs_1",
        summary: [],
        content: [{ type: "reasoning_text", text: "hm" }],
      }),
      ...wire.message({ index: 1, deltas: ["so"] }),
      wire.completed(),
    ],
    parts: [
      thought("hm"),
      { type: "reasoning-end", providerMetadata: { openai_compatible: { itemId: "rs_1", isPlain: true } } },
      textDelta("so"),
      ...ENDED,
    ],
  },
];
