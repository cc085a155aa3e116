/**
 * Recorded Chat Completions streams, OpenAI's own and those common to all servers, and the exact parts expected of them.
 */
import { CUT } from "../../replays/replay-server.js";
import {
  brokenBytes,
  called,
  cutCall,
  FINISH_STOP,
  type ReplayCase,
  textDelta,
  typed,
  used,
} from "../../replays/openai-replay.js";
import * as wire from "./chat-chunks.js";

const USED = used({ inputTokens: 10, outputTokens: 5 });
const ENDED = [USED, FINISH_STOP];
const CALLS_ENDED = [USED, { type: "finish", reason: "tool-calls" } as const];
const hello = [wire.role, wire.text("Hel"), wire.text("lo")];
const HELLO = [textDelta("Hel"), textDelta("lo")];
const cite = (url: string, title?: string) => ({
  type: "url_citation",
  url_citation: { url, title, start_index: 0 },
});

export const CHAT_CASES: ReplayCase[] = [
  { name: "text", chunks: [...hello, ...wire.ending], parts: [...HELLO, ...ENDED] },
  {
    name: "CRLF line ends",
    chunks: [...hello, ...wire.ending].map((chunk) => chunk.replaceAll("\n", "\r\n")),
    parts: [...HELLO, ...ENDED],
  },
  {
    name: "bare CR line ends, no space after the colon",
    chunks: [...hello, ...wire.ending].map((chunk) =>
      chunk.replaceAll("\n", "\r").replace("data: ", "data:"),
    ),
    parts: [...HELLO, ...ENDED],
  },
  {
    name: "comments while a model loads",
    chunks: [": OPENROUTER PROCESSING\n\n", ...hello, ": keep-alive\n\n", ...wire.ending],
    parts: [...HELLO, ...ENDED],
  },
  {
    name: "everything in one packet",
    chunks: [[...hello, ...wire.ending].join("")],
    parts: [...HELLO, ...ENDED],
  },
  {
    name: "every byte in its own packet, through characters of four bytes",
    chunks: brokenBytes([wire.text("wörld 🌍"), wire.text("日本"), ...wire.ending].join("")),
    parts: [textDelta("wörld 🌍"), textDelta("日本"), ...ENDED],
  },
  {
    name: "one very long delta",
    chunks: [wire.text("x".repeat(3_000_000)), ...wire.ending],
    parts: [textDelta("x".repeat(3_000_000)), ...ENDED],
  },
  { name: "an empty answer", chunks: [wire.role, ...wire.ending], parts: ENDED },
  {
    name: "a refusal",
    chunks: [wire.role, wire.delta({ refusal: "I can" }), wire.delta({ refusal: "not." }), ...wire.ending],
    parts: [textDelta("I can"), textDelta("not."), ...ENDED],
  },
  {
    name: "text in the chunk that finishes, usage beside it",
    chunks: [
      wire.chunk({
        choices: [{ index: 0, delta: { content: "a" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      }),
      wire.DONE,
    ],
    parts: [textDelta("a"), ...ENDED],
  },
  {
    name: "a call in deltas",
    chunks: [
      wire.role,
      wire.call(0, { id: "call_1", name: "execute" }),
      wire.call(0, { args: '{"command"' }),
      wire.call(0, { args: ':"ls"}' }),
      ...wire.callEnding,
    ],
    parts: [
      typed("call_1", "execute", '{"command"'),
      typed("call_1", "execute", ':"ls"}'),
      called("call_1", "execute", { command: "ls" }),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "a call after text, its arguments cut inside a character",
    chunks: [
      ...hello,
      ...brokenBytes(
        [
          wire.call(0, { id: "c", name: "execute", args: '{"command":"🌍' }),
          wire.call(0, { args: 'ö"}' }),
        ].join(""),
        5,
      ),
      ...wire.callEnding,
    ],
    parts: [
      ...HELLO,
      typed("c", "execute", '{"command":"🌍'),
      typed("c", "execute", 'ö"}'),
      called("c", "execute", { command: "🌍ö" }),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "two calls whose deltas are interleaved",
    chunks: [
      wire.call(0, { id: "a", name: "execute" }),
      wire.call(1, { id: "b", name: "execute" }),
      wire.call(1, { args: '{"n"' }),
      wire.call(0, { args: '{"n"' }),
      wire.call(1, { args: ":2}" }),
      wire.call(0, { args: ":1}" }),
      ...wire.callEnding,
    ],
    parts: [
      typed("b", "execute", '{"n"'),
      typed("a", "execute", '{"n"'),
      typed("b", "execute", ":2}"),
      typed("a", "execute", ":1}"),
      called("a", "execute", { n: 1 }),
      called("b", "execute", { n: 2 }),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "a call without arguments",
    chunks: [wire.call(0, { id: "a", name: "list" }), ...wire.callEnding],
    parts: [called("a", "list", {}), ...CALLS_ENDED],
  },
  {
    name: "a call that the output limit cut, after one that is whole",
    chunks: [
      wire.call(0, { id: "a", name: "execute", args: '{"command":"ls"}' }),
      wire.call(1, { id: "b", name: "execute", args: '{"command":"rm -rf /tm' }),
      wire.finish("length"),
      wire.USAGE,
      wire.DONE,
    ],
    parts: [
      typed("a", "execute", '{"command":"ls"}'),
      typed("b", "execute", '{"command":"rm -rf /tm'),
      called("a", "execute", { command: "ls" }),
      cutCall("b", "execute"),
      USED,
      { type: "finish", reason: "length" },
    ],
  },
  {
    name: "the content filter's stop",
    chunks: [...hello, wire.finish("content_filter"), wire.USAGE, wire.DONE],
    parts: [...HELLO, USED, { type: "finish", reason: "content-filter" }],
  },
  {
    name: "a stop for a reason of tomorrow",
    chunks: [...hello, wire.finish("paused"), wire.DONE],
    parts: [...HELLO, { type: "finish", reason: "other" }],
  },
  {
    name: "a finish that is sent twice",
    chunks: [...hello, wire.finish("stop"), wire.finish("length"), wire.USAGE, wire.DONE],
    parts: [...HELLO, ...ENDED],
  },
  {
    name: "citations, each page once, after the text",
    chunks: [
      wire.role,
      wire.delta({
        content: "It is",
        annotations: [cite("https://a.example", "A"), cite("https://b.example")],
      }),
      wire.delta({ content: " so.", annotations: [cite("https://a.example", "A")] }),
      ...wire.ending,
    ],
    parts: [
      textDelta("It is"),
      textDelta(" so."),
      { type: "source", url: "https://a.example", title: "A" },
      { type: "source", url: "https://b.example" },
      ...ENDED,
    ],
  },
  {
    name: "cached, written and reasoning tokens",
    chunks: [
      ...hello,
      wire.finish("stop"),
      wire.usage({
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 40 },
      }),
      wire.DONE,
    ],
    parts: [
      ...HELLO,
      used({
        inputTokens: 10,
        cacheReadTokens: 60,
        cacheWriteTokens: 30,
        outputTokens: 50,
        reasoningTokens: 40,
      }),
      FINISH_STOP,
    ],
  },
  {
    name: "usage that is missing",
    chunks: [...hello, wire.finish("stop"), wire.DONE],
    parts: [...HELLO, FINISH_STOP],
  },
  {
    name: "usage that is null, then zero",
    chunks: [
      wire.chunk({ choices: [{ index: 0, delta: { content: "a" }, finish_reason: null }], usage: null }),
      wire.finish("stop"),
      wire.usage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
      wire.DONE,
    ],
    parts: [textDelta("a"), used({ inputTokens: null, outputTokens: null }), FINISH_STOP],
  },
  {
    name: "no [DONE], but a finish",
    chunks: [...hello, wire.finish("stop"), wire.USAGE],
    parts: [...HELLO, ...ENDED],
  },
  {
    name: "what comes after [DONE]",
    chunks: [...hello, ...wire.ending, wire.text("late"), "data: {broken\n\n"],
    parts: [...HELLO, ...ENDED],
  },
  {
    name: "a stream that ends without an end",
    chunks: hello,
    parts: HELLO,
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "a connection that breaks",
    chunks: [...hello, CUT],
    parts: HELLO,
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "broken JSON",
    chunks: [...hello, "data: {broken\n\n"],
    parts: HELLO,
    failure: { kind: "generic", isRetryable: true },
  },
  {
    name: "an error in the middle",
    chunks: [
      ...hello,
      'data: {"error":{"message":"Slow down.","type":"x","code":"rate_limit_exceeded"}}\n\n',
    ],
    parts: HELLO,
    failure: { kind: "rate_limited", isRetryable: true, detail: "Slow down." },
  },
];
