/** Recorded streams of OpenAI-compatible servers, and the exact parts expected of them. */
import type { JsonObject } from "../../../../src/domain/common/json.js";
import {
  called,
  FINISH_STOP,
  type ReplayCase,
  textDelta,
  thought,
  typed,
  used,
} from "../../replays/openai-replay.js";
import * as wire from "./chat-chunks.js";

const USED = used({ inputTokens: 10, outputTokens: 5 });
const ENDED = [USED, FINISH_STOP];
const CALLS_ENDED = [USED, { type: "finish", reason: "tool-calls" } as const];

/** The server is named by its address, which differs in each test. */
export const SERVER = "{server}";
const thoughtEnd = (own: JsonObject) => ({
  type: "reasoning-end" as const,
  providerMetadata: { openai_compatible: { origin: SERVER, ...own } },
});
const detail = (type: string, fields: object, index = 0) => ({ type: `reasoning.${type}`, index, ...fields });

const CASES: Omit<ReplayCase, "kind">[] = [
  {
    name: "DeepSeek's and vLLM's reasoning",
    chunks: [
      wire.delta({ role: "assistant", content: null, reasoning_content: "" }),
      wire.delta({ content: null, reasoning_content: "I" }),
      wire.delta({ content: null, reasoning_content: " think" }),
      wire.delta({ content: "so", reasoning_content: null }),
      wire.delta({ content: "" }, "stop"),
      wire.USAGE,
      wire.DONE,
    ],
    parts: [
      thought("I"),
      thought(" think"),
      thoughtEnd({ field: "reasoning_content" }),
      textDelta("so"),
      ...ENDED,
    ],
  },
  {
    name: "Groq's and Ollama's reasoning, before a call",
    chunks: [
      wire.delta({ reasoning: "I think" }),
      wire.call(0, { id: "a", name: "execute", args: "{}" }),
      ...wire.callEnding,
    ],
    parts: [
      thought("I think"),
      thoughtEnd({ field: "reasoning" }),
      typed("a", "execute", "{}"),
      called("a", "execute", {}),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "reasoning and nothing else",
    chunks: [wire.delta({ reasoning: "I think" }), ...wire.ending],
    parts: [thought("I think"), thoughtEnd({ field: "reasoning" }), ...ENDED],
  },
  {
    name: "OpenRouter's details of signed reasoning, joined again",
    chunks: [
      wire.delta({
        reasoning: "I ",
        reasoning_details: [detail("text", { text: "I ", format: "f", signature: null })],
      }),
      wire.delta({ reasoning: "think", reasoning_details: [detail("text", { text: "think", format: "f" })] }),
      wire.delta({ reasoning_details: [detail("text", { signature: "sig", format: "f" })] }),
      wire.text("so"),
      ...wire.ending,
    ],
    parts: [
      thought("I "),
      thought("think"),
      thoughtEnd({ details: [detail("text", { text: "I think", format: "f", signature: "sig" })] }),
      textDelta("so"),
      ...ENDED,
    ],
  },
  {
    name: "OpenRouter's summaries, several blocks",
    chunks: [
      wire.delta({ reasoning_details: [detail("summary", { summary: "a" })] }),
      wire.delta({
        reasoning_details: [detail("summary", { summary: "b" }), detail("summary", { summary: "c" }, 1)],
      }),
      wire.text("so"),
      ...wire.ending,
    ],
    parts: [
      thought("a"),
      thought("bc"),
      thoughtEnd({ details: [detail("summary", { summary: "ab" }), detail("summary", { summary: "c" }, 1)] }),
      textDelta("so"),
      ...ENDED,
    ],
  },
  {
    name: "OpenRouter's encrypted reasoning, which comes with the call",
    chunks: [
      wire.delta({
        tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "execute", arguments: "{}" } }],
        reasoning_details: [
          detail("encrypted", { data: "AAAA", id: "a" }),
          detail("encrypted", { data: "BBBB", id: "b" }),
        ],
      }),
      ...wire.callEnding,
    ],
    parts: [
      typed("a", "execute", "{}"),
      thoughtEnd({
        details: [
          detail("encrypted", { data: "AAAA", id: "a" }),
          detail("encrypted", { data: "BBBB", id: "b" }),
        ],
      }),
      called("a", "execute", {}),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "Mistral's lists of thinking and text",
    chunks: [
      wire.delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "I think" }] }] }),
      wire.delta({ content: [{ type: "text", text: "so" }] }),
      ...wire.ending,
    ],
    parts: [thought("I think"), { type: "reasoning-end" }, textDelta("so"), ...ENDED],
  },
  {
    name: "calls without indexes, whole, with arguments as objects",
    chunks: [
      wire.call(undefined, { id: "a", name: "execute", args: { command: "a" } }),
      wire.call(undefined, { id: "b", name: "execute", args: { command: "b" } }),
      ...wire.callEnding,
    ],
    parts: [
      typed("a", "execute", '{"command":"a"}'),
      typed("b", "execute", '{"command":"b"}'),
      called("a", "execute", { command: "a" }),
      called("b", "execute", { command: "b" }),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "a stop that means a call, and a list of calls that is null",
    chunks: [
      wire.delta({ tool_calls: null }),
      wire.call(0, { id: "a", name: "execute", args: "{}" }),
      ...wire.ending,
    ],
    parts: [typed("a", "execute", "{}"), called("a", "execute", {}), ...CALLS_ENDED],
  },
  {
    name: "parallel calls that all claim the first index",
    chunks: [
      wire.call(0, { id: "a", name: "execute", args: '{"n":1}' }),
      wire.call(0, { id: "b", name: "execute", args: '{"n":2}' }),
      ...wire.callEnding,
    ],
    parts: [
      typed("a", "execute", '{"n":1}'),
      typed("b", "execute", '{"n":2}'),
      called("a", "execute", { n: 1 }),
      called("b", "execute", { n: 2 }),
      ...CALLS_ENDED,
    ],
  },
  {
    name: "usage with every chunk",
    chunks: [
      wire.chunk({
        choices: [{ index: 0, delta: { content: "a" } }],
        usage: { prompt_tokens: 10, completion_tokens: 1 },
      }),
      ...wire.ending,
    ],
    parts: [textDelta("a"), used({ inputTokens: 10, outputTokens: 1 }), ...ENDED],
  },
  {
    name: "DeepSeek's own count of cached tokens",
    chunks: [
      wire.text("a"),
      wire.finish("stop"),
      wire.usage({
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_cache_hit_tokens: 8,
        prompt_cache_miss_tokens: 2,
      }),
      wire.DONE,
    ],
    parts: [textDelta("a"), used({ inputTokens: 2, cacheReadTokens: 8, outputTokens: 5 }), FINISH_STOP],
  },
  {
    name: "xAI's reasoning, which it counts beside the answer",
    chunks: [
      wire.text("a"),
      wire.finish("stop"),
      wire.usage({
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 20 },
      }),
      wire.DONE,
    ],
    parts: [textDelta("a"), used({ inputTokens: 10, outputTokens: 25, reasoningTokens: 20 }), FINISH_STOP],
  },
  {
    name: "chunks without choices, or with null for them",
    chunks: [
      wire.chunk({}),
      wire.chunk({ choices: null }),
      wire.chunk({ choices: [{ index: 0 }] }),
      wire.text("a"),
      ...wire.ending,
    ],
    parts: [textDelta("a"), ...ENDED],
  },
  {
    name: "OpenRouter's error of a provider behind it",
    chunks: [
      wire.text("a"),
      wire.chunk({
        error: { code: 502, message: "Provider disconnected unexpectedly" },
        choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
      }),
    ],
    parts: [textDelta("a")],
    failure: { kind: "timeout", isRetryable: true, detail: "Provider disconnected unexpectedly" },
  },
  {
    name: "a finish that says error and no more",
    chunks: [wire.text("a"), wire.finish("error")],
    parts: [textDelta("a")],
    failure: { kind: "generic", isRetryable: true },
  },
];

export const COMPATIBLE_CASES: ReplayCase[] = CASES.map((input) => ({ ...input, kind: "openai_compatible" }));
