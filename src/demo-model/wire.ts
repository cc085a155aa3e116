/** What a vendor's wire format must be able to do for the demo model. */
import type { JsonObject } from "../domain/common/json.js";
import type { AnswerFinish, ContentEvent } from "./answer.js";
import type { TokenUsage } from "../domain/chats/message-parts.js";
import type { Asked } from "./limits.js";
import type { DemoRequest } from "./request.js";

/** What a writer knows before the first word; `rawUsage` as in `ScriptStep`. */
export type AnswerFacts = {
  id: string;
  nowMs: number;
  usage: TokenUsage;
  rawUsage?: JsonObject | null | undefined;
};

/** Usage in the vendor's own fields, as it is sent: with what a script wants written over it; null = none. */
export function sentUsage(
  fields: JsonObject,
  { rawUsage }: Pick<AnswerFacts, "rawUsage">,
): JsonObject | null {
  return rawUsage === null ? null : { ...fields, ...rawUsage };
}

/** Writes one answer. Each method returns the bytes to send; `body` is the same answer unstreamed. */
export type WireWriter = {
  open(): string;
  write(event: ContentEvent): string;
  /** Why the answer stopped, and its usage. */
  close(reason: AnswerFinish, usage: TokenUsage): string;
  /** What says that the stream is over; empty for vendors that just close it. */
  end(): string;
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
  createWriter(request: DemoRequest, answer: AnswerFacts): WireWriter;
  errorBody(status: number, type: string | undefined, message: string): JsonObject;
};

/** One server-sent event. */
export function serverSentEvent(name: string | undefined, data: JsonObject): string {
  const line = `data: ${JSON.stringify(data)}\n\n`;
  return name === undefined ? line : `event: ${name}\n${line}`;
}
