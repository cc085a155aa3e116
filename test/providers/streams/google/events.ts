/** Builders of Gemini's stream events. */
import type { ChatFailure } from "../../../../src/domain/common/failures.js";
import type { JsonObject, JsonValue } from "../../../../src/domain/common/json.js";
import type { ModelStreamPart, ReportedUsage } from "../../../../src/providers/types.js";
import type { Chunk } from "../../replays/replay-server.js";

export type GoogleReplay = {
  name: string;
  chunks: Chunk[];
  /** Everything the adapter yields; before the failure, where there is one. */
  parts: unknown[];
  failure?: Partial<ChatFailure>;
};

export const MODEL = "gemini-3.8-flash";

/** One event, framed as the vendor frames it. */
export const event = (body: JsonObject): string => `data: ${JSON.stringify(body)}\r\n\r\n`;

/** An event with these parts; `candidate` joins the candidate, `more` the whole. */
export const parts = (list: JsonValue, candidate: JsonObject = {}, more: JsonObject = {}): string =>
  event({
    candidates: [{ content: { parts: list, role: "model" }, index: 0, ...candidate }],
    modelVersion: MODEL,
    responseId: "r1",
    ...more,
  });
export const words = (text: string): string => parts([{ text }]);
export const stop = (candidate: JsonObject = {}): string =>
  event({ candidates: [{ finishReason: "STOP", index: 0, ...candidate }] });

export const textDelta = (text: string): ModelStreamPart => ({ type: "text-delta", text });
export const thought = (text: string): ModelStreamPart => ({ type: "reasoning-delta", text });
export const signed = (fields: JsonObject) => ({ providerMetadata: { google: { ...fields, model: MODEL } } });
export const called = (toolCallId: unknown, command: string, more: object = {}) => ({
  type: "tool-call",
  toolCallId,
  toolName: "execute",
  arguments: { command },
  ...more,
});
export const finished = (reason = "stop") => ({ type: "finish", reason });
export const used = (usage: Partial<ReportedUsage>) => ({
  type: "usage",
  usage: {
    inputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    ...usage,
  },
});

export const CUT_FAILURE = { kind: "timeout", isRetryable: true } as const;

/** The bytes of a text one by one, which breaks each of its characters that has several. */
export function singleBytes(text: string): Uint8Array[] {
  return [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
}
