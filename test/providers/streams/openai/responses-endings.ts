/** Recorded streams of the Responses API, and the exact parts expected of them: calls, endings and failures. */
import { CUT } from "../../replays/replay-server.js";
import {
  brokenBytes,
  called,
  cutCall,
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
const first = wire.functionCall({ fragments: ['{"command"', ':"a"}'] });
const second = wire.functionCall({
  index: 1,
  id: "fc_2",
  callId: "call_2",
  fragments: ['{"command"', ':"b"}'],
});

export const RESPONSES_ENDING_CASES: ReplayCase[] = [
  {
    name: "a call after text",
    chunks: [
      ...hello,
      ...wire.wholeCall({ index: 1, fragments: ['{"comm', 'and":"ls"}'] }),
      wire.completed(),
    ],
    parts: [
      textDelta("Hel"),
      textDelta("lo"),
      typed("call_1", "execute", '{"comm'),
      typed("call_1", "execute", 'and":"ls"}'),
      called("call_1", "execute", { command: "ls" }),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "two calls whose deltas are interleaved",
    chunks: [
      first.begun,
      second.begun,
      first.fragments[0]!,
      second.fragments[0]!,
      first.fragments[1]!,
      second.fragments[1]!,
      ...second.ended,
      ...first.ended,
      wire.completed(),
    ],
    parts: [
      typed("call_1", "execute", '{"command"'),
      typed("call_2", "execute", '{"command"'),
      typed("call_1", "execute", ':"a"}'),
      typed("call_2", "execute", ':"b"}'),
      called("call_2", "execute", { command: "b" }),
      called("call_1", "execute", { command: "a" }),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "arguments cut inside a character",
    chunks: [
      ...brokenBytes(wire.wholeCall({ fragments: ['{"command":"echo 🌍', ' wörld"}'] }).join(""), 7),
      wire.completed(),
    ],
    parts: [
      typed("call_1", "execute", '{"command":"echo 🌍'),
      typed("call_1", "execute", ' wörld"}'),
      called("call_1", "execute", { command: "echo 🌍 wörld" }),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "a call that is sent twice",
    chunks: [
      ...wire.wholeCall({ fragments: ["{}"] }),
      wire.functionCall({ fragments: ["{}"] }).ended[1]!,
      wire.completed(),
    ],
    parts: [typed("call_1", "execute", "{}"), called("call_1", "execute", {}), ...CALLS_ENDED],
  },
  {
    name: "a proxy that gives an item another id in each event",
    chunks: [
      wire.added(0, { type: "function_call", id: "x1", call_id: "call_1", name: "execute", arguments: "" }),
      wire.event("response.function_call_arguments.delta", { item_id: "x2", output_index: 0, delta: "{}" }),
      wire.done(0, { type: "function_call", id: "x3", call_id: "call_1", name: "execute", arguments: "{}" }),
      wire.added(1, { type: "message", id: "y1", role: "assistant", content: [] }),
      wire.event("response.output_text.delta", {
        item_id: "y2",
        output_index: 1,
        content_index: 0,
        delta: "a",
      }),
      wire.done(1, {
        type: "message",
        id: "y3",
        role: "assistant",
        content: [{ type: "output_text", text: "a" }],
      }),
      wire.completed(),
    ],
    parts: [
      typed("call_1", "execute", "{}"),
      called("call_1", "execute", {}),
      textDelta("a"),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "a call that the output limit cut",
    chunks: [
      ...hello,
      ...wire.wholeCall({ index: 1, fragments: ['{"command":"rm -rf /tm'], status: "incomplete" }),
      wire.incomplete("max_output_tokens"),
    ],
    parts: [
      textDelta("Hel"),
      textDelta("lo"),
      typed("call_1", "execute", '{"command":"rm -rf /tm'),
      cutCall("call_1", "execute"),
      USED,
      { type: "finish", reason: "length" },
    ],
  },
  {
    name: "the content filter's stop",
    chunks: [...hello, wire.incomplete("content_filter")],
    parts: [textDelta("Hel"), textDelta("lo"), USED, { type: "finish", reason: "content-filter" }],
  },
  {
    name: "a stop for a reason of tomorrow",
    chunks: [...hello, wire.incomplete("steered")],
    parts: [textDelta("Hel"), textDelta("lo"), USED, { type: "finish", reason: "other" }],
  },
  {
    name: "usage that is missing",
    chunks: [...hello, wire.completed({ usage: null })],
    parts: [textDelta("Hel"), textDelta("lo"), FINISH_STOP],
  },
  {
    name: "usage of nothing, without details",
    chunks: [...hello, wire.completed({ usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } })],
    parts: [textDelta("Hel"), textDelta("lo"), used({ inputTokens: null, outputTokens: null }), FINISH_STOP],
  },
  {
    name: "usage whose details are null",
    chunks: [
      ...hello,
      wire.completed({
        usage: { input_tokens: 3, input_tokens_details: null, output_tokens: 4, output_tokens_details: null },
      }),
    ],
    parts: [textDelta("Hel"), textDelta("lo"), used({ inputTokens: 3, outputTokens: 4 }), FINISH_STOP],
  },
  {
    name: "an id of a response that the vendor keeps",
    options: { store: true },
    chunks: [
      ...wire.reasoning({ summaries: [["hm"]] }),
      ...wire.message({ index: 1, deltas: ["a"] }),
      wire.completed({ store: true }),
    ],
    parts: [
      thought("hm"),
      { type: "reasoning-end" },
      textDelta("a"),
      { type: "response", id: "resp_1" },
      ...ENDED,
    ],
  },
  {
    name: "a response that the vendor was asked to keep and may not",
    options: { store: true },
    chunks: [...hello, wire.completed({ store: false })],
    parts: [textDelta("Hel"), textDelta("lo"), ...ENDED],
  },
  {
    name: "a stream that ends without an end",
    chunks: [...wire.opened, ...hello],
    parts: [textDelta("Hel"), textDelta("lo")],
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "a connection that breaks",
    chunks: [...wire.opened, ...hello.slice(0, 4), CUT],
    parts: [textDelta("Hel"), textDelta("lo")],
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "an event of broken JSON",
    chunks: [...hello.slice(0, 4), "event: response.output_text.delta\ndata: {broken\n\n"],
    parts: [textDelta("Hel"), textDelta("lo")],
    failure: { kind: "generic", isRetryable: true },
  },
  {
    name: "an event of another shape",
    chunks: [...hello.slice(0, 4), wire.event("response.output_item.done", { output_index: 0 })],
    parts: [textDelta("Hel"), textDelta("lo")],
    failure: {
      kind: "generic",
      isRetryable: true,
      detail: "the answer contained a malformed event",
    },
  },
  {
    name: "a response that failed",
    chunks: [...hello, wire.failed({ code: "rate_limit_exceeded", message: "Slow down." })],
    parts: [textDelta("Hel"), textDelta("lo")],
    failure: { kind: "rate_limited", isRetryable: true, detail: "Slow down." },
  },
  {
    name: "a response that failed without a word",
    chunks: [wire.created, wire.failed(null)],
    parts: [],
    failure: { kind: "generic", isRetryable: true },
  },
  {
    name: "an error event with an inner error",
    chunks: [
      wire.created,
      wire.event("error", {
        error: { type: "server_error", code: "server_is_overloaded", message: "Overloaded." },
      }),
    ],
    parts: [],
    failure: { kind: "overloaded", isRetryable: true, detail: "Overloaded." },
  },
  {
    name: "an error event without an event name",
    chunks: [
      wire.created,
      'data: {"type":"error","code":"context_length_exceeded","message":"Too long."}\n\n',
    ],
    parts: [],
    failure: { kind: "context_too_large", isRetryable: false, detail: "Too long." },
  },
  {
    name: "what comes after the end",
    chunks: [
      ...hello,
      wire.completed(),
      ...wire.message({ index: 1, id: "m", deltas: ["late"] }),
      wire.failed(null),
    ],
    parts: [textDelta("Hel"), textDelta("lo"), ...ENDED],
  },
];
