/** Builders of Anthropic's stream events, and the type of a replay case. */
import type { JsonObject } from "../../../../src/domain/common/json.js";
import type { ChatFailure } from "../../../../src/domain/common/failures.js";
import type { ModelStreamPart } from "../../../../src/providers/types.js";
import type { Chunk } from "../../replays/replay-server.js";

export type StreamCase = {
  name: string;
  /** Events in order; each is framed as the vendor frames it. `CUT` destroys the socket. */
  events: readonly (JsonObject | symbol)[];
  parts: readonly ModelStreamPart[];
  /** The stream ends with this failure, after the parts. */
  failure?: Partial<ChatFailure>;
};
/** A case on the level of bytes, for the framing of server-sent events. */
export type FramingCase = Omit<StreamCase, "events"> & { chunks: readonly Chunk[] };

const USAGE = { input_tokens: 9, output_tokens: 1 };

export const start = (usage: JsonObject | null | undefined = USAGE): JsonObject => ({
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(usage === undefined ? {} : { usage }),
  },
});
export const block = (index: number, content: JsonObject): JsonObject => ({
  type: "content_block_start",
  index,
  content_block: content,
});
export const textBlock = (index: number): JsonObject => block(index, { type: "text", text: "" });
export const delta = (index: number, content: JsonObject): JsonObject => ({
  type: "content_block_delta",
  index,
  delta: content,
});
export const words = (index: number, text: string) => delta(index, { type: "text_delta", text });
export const thought = (index: number, thinking: string) =>
  delta(index, { type: "thinking_delta", thinking });
export const signature = (index: number, text: string) =>
  delta(index, { type: "signature_delta", signature: text });
export const input = (index: number, partial_json: string) =>
  delta(index, { type: "input_json_delta", partial_json });
export const cite = (index: number, citation: JsonObject) =>
  delta(index, { type: "citations_delta", citation });
export const stop = (index: number): JsonObject => ({ type: "content_block_stop", index });
export const because = (stop_reason: string | null, usage: JsonObject | null = { output_tokens: 5 }) => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  usage,
});
export const over: JsonObject = { type: "message_stop" };
export const ping: JsonObject = { type: "ping" };
/** A whole block of text. */
export const text = (index: number, ...fragments: string[]): JsonObject[] => [
  textBlock(index),
  ...fragments.map((fragment) => words(index, fragment)),
  stop(index),
];
/** The end of a successful answer. */
export const ended: JsonObject[] = [because("end_turn"), over];

/** The usage part for the usage of `start` and `because`. */
export const used = (
  inputTokens: number | null = 9,
  outputTokens: number | null = 1,
  more: object = {},
): ModelStreamPart => ({
  type: "usage",
  usage: { inputTokens, outputTokens, reasoningTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, ...more },
});
export const textDelta = (value: string): ModelStreamPart => ({ type: "text-delta", text: value });
export const reasoningDelta = (value: string): ModelStreamPart => ({ type: "reasoning-delta", text: value });
export const finished = (reason: "stop" | "tool-calls" | "length" | "content-filter" | "other" = "stop") =>
  [used(9, 5), { type: "finish", reason }] satisfies ModelStreamPart[];
export const toolInput = (toolCallId: string, fragment: string): ModelStreamPart => ({
  type: "tool-input-delta",
  toolCallId,
  toolName: "execute",
  delta: fragment,
});
export const toolCall = (toolCallId: string, args: JsonObject): ModelStreamPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "execute",
  arguments: args,
});
/** A call truncated by the output limit. */
export const cutCall = (toolCallId: string): ModelStreamPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "execute",
  arguments: {},
  isCut: true,
});
