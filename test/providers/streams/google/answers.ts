/** Contents of Gemini's answers: thoughts, signatures, calls, usage, searches, finish reasons. */
import { expect } from "vitest";
import type { JsonObject } from "../../../../src/domain/common/json.js";
import {
  called,
  event,
  finished,
  type GoogleReplay,
  parts,
  textDelta,
  signed,
  stop,
  thought,
  used,
  words,
} from "./events.js";

const SIGNATURE = "c2lnbmVk";
const think = (text: string, more: JsonObject = {}) => ({ text, thought: true, ...more });
const call = (command: string, fields: JsonObject = {}, more: JsonObject = {}) => ({
  functionCall: { name: "execute", args: { command }, ...fields },
  ...more,
});
const MADE_UP = expect.stringMatching(/^call_[0-9a-f]{32}$/) as unknown;
const count = (usageMetadata: JsonObject | null, more: JsonObject = {}) => event({ usageMetadata, ...more });

const THOUGHTS: GoogleReplay[] = [
  {
    name: "thoughts that only users read",
    chunks: [parts([think("I "), think("think")]), words("yes"), stop()],
    parts: [thought("I "), thought("think"), { type: "reasoning-end" }, textDelta("yes"), finished()],
  },
  {
    name: "a thought that nothing followed",
    chunks: [parts([think("hm")]), stop({ finishReason: "MAX_TOKENS" })],
    parts: [thought("hm"), { type: "reasoning-end" }, finished("length")],
  },
  {
    name: "a signed thought behind an unsigned one",
    chunks: [
      parts([think("I ")]),
      parts([think("think", { thoughtSignature: SIGNATURE })]),
      words("yes"),
      stop(),
    ],
    parts: [
      thought("I "),
      thought("think"),
      { type: "reasoning-end", ...signed({ thoughtSignature: SIGNATURE, signedFrom: 2 }) },
      textDelta("yes"),
      finished(),
    ],
  },
  {
    name: "a signature in a thought of its own",
    chunks: [parts([think("hm"), think("", { thoughtSignature: SIGNATURE })]), words("yes"), stop()],
    parts: [
      thought("hm"),
      { type: "reasoning-end", ...signed({ thoughtSignature: SIGNATURE, signedFrom: 2 }) },
      textDelta("yes"),
      finished(),
    ],
  },
  {
    name: "a signature on the last text delta",
    chunks: [words("ye"), parts([{ text: "s", thoughtSignature: SIGNATURE }]), stop()],
    parts: [
      textDelta("ye"),
      textDelta("s"),
      { type: "text-end", ...signed({ thoughtSignature: SIGNATURE, signedFrom: 2 }) },
      finished(),
    ],
  },
  {
    name: "a signature on an empty text behind the text",
    chunks: [
      parts([think("hm")]),
      words("yes"),
      parts([{ text: "", thoughtSignature: SIGNATURE }], { finishReason: "STOP" }),
    ],
    parts: [
      thought("hm"),
      { type: "reasoning-end" },
      textDelta("yes"),
      { type: "text-end", ...signed({ thoughtSignature: SIGNATURE, signedFrom: 3 }) },
      finished(),
    ],
  },
  {
    name: "a signature and no words at all",
    chunks: [parts([think("hm"), { thoughtSignature: SIGNATURE }]), stop()],
    parts: [
      thought("hm"),
      { type: "reasoning-end" },
      { type: "reasoning-end", ...signed({ thoughtSignature: SIGNATURE, isText: true }) },
      finished(),
    ],
  },
];

const CALLS: GoogleReplay[] = [
  {
    name: "a signed call behind a thought",
    chunks: [
      parts([think("hm")]),
      parts([call("ls", { id: "q1" }, { thoughtSignature: SIGNATURE })]),
      stop(),
    ],
    parts: [
      thought("hm"),
      { type: "reasoning-end" },
      called("q1", "ls", signed({ thoughtSignature: SIGNATURE })),
      finished("tool-calls"),
    ],
  },
  {
    name: "parallel calls of which the first is signed",
    chunks: [
      parts([call("a", { id: "q1" }, { thoughtSignature: SIGNATURE }), call("b", { id: "q2" })], {
        finishReason: "STOP",
      }),
    ],
    parts: [
      called("q1", "a", signed({ thoughtSignature: SIGNATURE })),
      called("q2", "b"),
      finished("tool-calls"),
    ],
  },
  {
    name: "calls without ids",
    chunks: [parts([call("a"), call("b", { id: "" })]), stop()],
    parts: [called(MADE_UP, "a"), called(MADE_UP, "b"), finished("tool-calls")],
  },
  {
    name: "calls that share an id",
    chunks: [parts([call("a", { id: "q1" }), call("b", { id: "q1" })]), stop()],
    parts: [called("q1", "a"), called(MADE_UP, "b"), finished("tool-calls")],
  },
  {
    name: "calls between texts",
    chunks: [
      words("one"),
      parts([call("a", { id: "q1" })]),
      words("two"),
      parts([call("b", { id: "q2" })]),
      stop(),
    ],
    parts: [textDelta("one"), called("q1", "a"), textDelta("two"), called("q2", "b"), finished("tool-calls")],
  },
  {
    name: "a call without arguments",
    chunks: [parts([{ functionCall: { name: "process_list", id: "q1" } }]), stop()],
    parts: [
      { type: "tool-call", toolCallId: "q1", toolName: "process_list", arguments: {} },
      finished("tool-calls"),
    ],
  },
  {
    name: "arguments that are no object",
    chunks: [parts([{ functionCall: { name: "execute", id: "q1", args: ["ls"] } }]), stop()],
    parts: [
      { type: "tool-call", toolCallId: "q1", toolName: "execute", arguments: {} },
      finished("tool-calls"),
    ],
  },
];

const COUNTS: GoogleReplay[] = [
  {
    name: "counts that grow, repeated in each event",
    chunks: [
      parts([{ text: "a" }], {}, { usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 } }),
      parts([{ text: "b" }], {}, { usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 } }),
      parts(
        [{ text: "c" }],
        { finishReason: "STOP" },
        {
          usageMetadata: {
            promptTokenCount: 10,
            candidatesTokenCount: 3,
            thoughtsTokenCount: 4,
            totalTokenCount: 17,
          },
        },
      ),
    ],
    parts: [
      textDelta("a"),
      used({ inputTokens: 10 }),
      textDelta("b"),
      textDelta("c"),
      used({ inputTokens: 10, outputTokens: 7, reasoningTokens: 4 }),
      finished(),
    ],
  },
  {
    name: "cached tokens, and tokens that tools read",
    chunks: [
      words("a"),
      count({
        promptTokenCount: 100,
        cachedContentTokenCount: 90,
        toolUsePromptTokenCount: 7,
        candidatesTokenCount: 1,
      }),
      stop(),
    ],
    parts: [textDelta("a"), used({ inputTokens: 17, cacheReadTokens: 90, outputTokens: 1 }), finished()],
  },
  {
    name: "counts behind the end, in part",
    chunks: [
      count({ promptTokenCount: 10, cachedContentTokenCount: 4, thoughtsTokenCount: 2 }),
      stop(),
      count({ candidatesTokenCount: 5 }),
    ],
    parts: [
      used({ inputTokens: 6, cacheReadTokens: 4, outputTokens: 2, reasoningTokens: 2 }),
      used({ inputTokens: 6, cacheReadTokens: 4, outputTokens: 7, reasoningTokens: 2 }),
      finished(),
    ],
  },
  {
    name: "counts of zero",
    chunks: [count({ promptTokenCount: 0, candidatesTokenCount: 0 }), stop()],
    parts: [used({ inputTokens: null, outputTokens: null }), finished()],
  },
  {
    name: "counts that are null or missing",
    chunks: [count(null), count({}), count({ totalTokenCount: 3 }), words("a"), stop()],
    parts: [textDelta("a"), finished()],
  },
  {
    name: "more cached than asked",
    chunks: [count({ promptTokenCount: 1, cachedContentTokenCount: 4 }), stop()],
    parts: [used({ cacheReadTokens: 1, anomalies: { cached: "4 of 1" } }), finished()],
  },
];

const search = { toolType: "GOOGLE_SEARCH_WEB", id: "s1" };
const toolCall = { toolCall: { ...search, args: { queries: ["why"] } }, thoughtSignature: SIGNATURE };
const toolResponse = { toolResponse: { ...search, response: { search_suggestions: "<b>why</b>" } } };
const searched = (args: JsonObject, part: JsonObject) => ({
  type: "tool-call",
  toolCallId: "s1",
  toolName: "web_search",
  arguments: args,
  isProviderExecuted: true,
  ...signed({ part }),
});
const answered = (result: JsonObject, part: JsonObject, isError = false) => ({
  type: "tool-result",
  toolCallId: "s1",
  toolName: "web_search",
  result,
  isError,
  isProviderExecuted: true,
  ...signed({ part }),
});
const web = (uri: string, title?: string): JsonObject => ({ web: { uri, ...(title ? { title } : {}) } });
const grounding = (...groundingChunks: JsonObject[]) => ({ groundingMetadata: { groundingChunks } });
const source = (url: string, title?: string) => ({ type: "source", url, ...(title ? { title } : {}) });

const SEARCHES: GoogleReplay[] = [
  {
    name: "a search beside tools, and its pages",
    chunks: [
      parts([toolCall]),
      parts([toolResponse]),
      words("because"),
      stop(grounding(web("https://a.example", "A"))),
    ],
    parts: [
      searched({ query: "why" }, toolCall),
      answered({ search_suggestions: "<b>why</b>" }, toolResponse),
      textDelta("because"),
      source("https://a.example", "A"),
      finished(),
    ],
  },
  {
    name: "several queries, and a search that failed",
    chunks: [
      parts([
        { toolCall: { ...search, args: { queries: ["why", "how"] } } },
        { toolResponse: { ...search, response: { error: "no" } } },
      ]),
      stop(),
    ],
    parts: [
      searched({ queries: ["why", "how"] }, { toolCall: { ...search, args: { queries: ["why", "how"] } } }),
      answered({ error: "no" }, { toolResponse: { ...search, response: { error: "no" } } }, true),
      finished(),
    ],
  },
  {
    name: "a search without ids",
    chunks: [parts([{ toolCall: {} }, { toolResponse: {} }]), stop()],
    parts: [
      {
        ...searched({}, { toolCall: {} }),
        toolCallId: expect.stringMatching(/^search_[\w-]{36}$/) as unknown,
      },
      { ...answered({}, { toolResponse: {} }), toolCallId: expect.stringMatching(/^search_/) as unknown },
      finished(),
    ],
  },
  {
    name: "an answer to no search",
    chunks: [parts([{ toolResponse: {} }]), words("a"), stop()],
    parts: [textDelta("a"), finished()],
  },
  {
    name: "pages in between do not split the text, and each is sent once",
    chunks: [
      parts([{ text: "a" }], grounding(web("https://a.example", "A"), web("https://b.example"))),
      parts(
        [{ text: "b" }],
        grounding(web("https://a.example", "A again"), {}, { web: { title: "no address" } }),
      ),
      parts([{ text: "c" }], {
        finishReason: "STOP",
        citationMetadata: {
          citationSources: [{ uri: "https://c.example", startIndex: 0 }, { startIndex: 1 }],
        },
      }),
    ],
    parts: [
      textDelta("a"),
      textDelta("b"),
      textDelta("c"),
      source("https://a.example", "A"),
      source("https://b.example"),
      source("https://c.example"),
      finished(),
    ],
  },
];

const REASONS: GoogleReplay[] = [
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "length"],
  ["SAFETY", "content-filter"],
  ["RECITATION", "content-filter"],
  ["BLOCKLIST", "content-filter"],
  ["PROHIBITED_CONTENT", "content-filter"],
  ["SPII", "content-filter"],
  ["IMAGE_SAFETY", "content-filter"],
  ["LANGUAGE", "other"],
  ["OTHER", "other"],
  ["TOO_MANY_TOOL_CALLS", "other"],
  ["FINISH_REASON_UNSPECIFIED", "other"],
  ["A_REASON_OF_TOMORROW", "other"],
].map(([finishReason = "", reason = ""]) => ({
  name: `the end ${finishReason}`,
  chunks: [words("a"), stop({ finishReason })],
  parts: [textDelta("a"), finished(reason)],
}));

const NO_ANSWERS: GoogleReplay[] = [
  ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"].map((finishReason) => ({
    name: `the accident ${finishReason}`,
    chunks: [words("a"), stop({ finishReason })],
    parts: [textDelta("a")],
    failure: {
      kind: "generic" as const,
      isRetryable: true,
      detail: `the answer ended with ${finishReason}`,
    },
  })),
  {
    name: "a missing signature, which no retry brings back",
    chunks: [stop({ finishReason: "MISSING_THOUGHT_SIGNATURE" })],
    parts: [],
    failure: { kind: "generic", isRetryable: false },
  },
  {
    name: "a blocked prompt",
    chunks: [
      event({
        promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
        usageMetadata: { promptTokenCount: 4 },
      }),
    ],
    parts: [],
    failure: {
      kind: "content_filtered",
      isRetryable: false,
      detail: "the prompt was blocked: PROHIBITED_CONTENT",
    },
  },
  {
    name: "feedback on a prompt that was not blocked",
    chunks: [event({ promptFeedback: { safetyRatings: [] } }), words("a"), stop()],
    parts: [textDelta("a"), finished()],
  },
];

export const ANSWER_CASES = [...THOUGHTS, ...CALLS, ...COUNTS, ...SEARCHES, ...REASONS, ...NO_ANSWERS];
