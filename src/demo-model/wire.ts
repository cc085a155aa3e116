/** What a vendor's wire format must be able to do for the demo model. */
import type { JsonObject } from "../domain/json.js";
import type { AnswerFinish, ContentEvent } from "./answer.js";
import type { TokenUsage } from "../domain/message-parts.js";
import type { Asked } from "./limits.js";
import type { DemoRequest } from "./request.js";

/** Writes one answer. Each method returns the bytes to send; `body` is the same answer unstreamed. */
export type WireWriter = {
  open(): string;
  write(event: ContentEvent): string;
  close(reason: AnswerFinish, usage: TokenUsage): string;
  fail(errorType: string, message: string): string;
  body(): JsonObject;
};

export type Wire = {
  /** How the stream travels; absent = server-sent events in UTF-8. A binary one is written as Latin-1 text. */
  stream?: { contentType: string; encoding: "latin1" };
  /** What an error tells in its headers. */
  errorHeaders?(status: number, type: string | undefined): Record<string, string>;
  /** `path` is the address as it was called, where some vendors put the model. */
  readRequest(
    body: JsonObject,
    path: string,
  ): Omit<DemoRequest, "wire" | "headers" | "body" | "sizeCharacters">;
  /** What the vendor answers instead, when it cannot do what the body asks. */
  refusal(body: JsonObject, path: string, asked: Asked): { status: number; body: JsonObject } | undefined;
  /** `inputTokens` is needed by vendors that send usage first. */
  createWriter(request: DemoRequest, answer: { id: string; nowMs: number; usage: TokenUsage }): WireWriter;
  errorBody(status: number, type: string | undefined, message: string): JsonObject;
};

/** One server-sent event. */
export function serverSentEvent(name: string | undefined, data: JsonObject): string {
  const line = `data: ${JSON.stringify(data)}\n\n`;
  return name === undefined ? line : `event: ${name}\n${line}`;
}
