/**
 * Vendor-neutral stream events: a step of a script (or of the built-in plan) becomes a list of events, which each wire
 * format serializes.
 */
import type { JsonObject } from "../domain/common/json.js";
import type { TokenUsage } from "../domain/chats/message-parts.js";

export type AnswerFinish = "stop" | "tool-calls" | "length" | "content-filter";

/** One answer of the model, as a test defines it. Everything is optional; an empty step has no output. */
export type ScriptStep = {
  /** Streamed before the text, in word-sized deltas. `isRedacted`: only its encrypted form is sent. */
  reasoning?: string | { text: string; isRedacted: true };
  /** Each entry is one delta; a plain string is cut into words. */
  text?: string | string[];
  /** Between two deltas, by the server's clock. */
  delayMs?: number;
  /** `arguments` as a string is sent as it is, even when it is no JSON. */
  toolCalls?: { id?: string; name: string; arguments: JsonObject | string }[];
  /** A web search that the vendor runs by itself; its pages are cited as sources. */
  search?: { query: string; pages: { url: string; title: string }[] };
  /** Guessed from the lengths where absent. */
  usage?: Partial<TokenUsage>;
  /** Written over the vendor's own fields of usage wherever they are sent, unread; null = no usage is sent at all. */
  rawUsage?: JsonObject | null;
  finish?: AnswerFinish;
  /** Behind the reason to finish, the end of the stream is missing, and the connection stays open or is destroyed. */
  afterFinish?: "hang" | "cut";
  /** Answer with this HTTP status instead of a stream. */
  error?: {
    status: number;
    type?: string;
    message?: string;
    body?: JsonObject | string;
    headers?: Record<string, string>;
  };
  /** After the deltas of this step, an error event in the stream (status 200 was already sent). */
  streamError?: { type: string; message: string };
  /** After so many text deltas the socket is destroyed. */
  cutAfterDeltas?: number;
  /** After so many text deltas the response ends properly, but the answer does not. */
  endAfterDeltas?: number;
  /** Silence for ever: before the headers, before the first event, or after so many text deltas. */
  hang?: "before-headers" | "before-events" | number;
};

export type ContentEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "reasoning-end"; isRedacted: boolean }
  | { type: "search"; query: string; pages: { url: string; title: string }[] }
  | { type: "tool-call"; id: string; name: string; argumentsText: string };

export type EventExecutor =
  | ContentEvent
  | { type: "pause"; ms: number }
  | { type: "hang" }
  | { type: "cut" }
  | { type: "end" }
  | { type: "stream-error"; errorType: string; message: string }
  | { type: "finish"; reason: AnswerFinish; usage: TokenUsage }
  /** What vendors send to say that the stream is over. */
  | { type: "over" };

/** Vendors send arguments in deltas of a few tokens. */
const ARGUMENT_DELTA_CHARACTERS = 16;
/** The usual guess for English text. */
export const CHARACTERS_PER_TOKEN = 4;

/** The events of a step, one by one, so that a huge text is never a huge list. */
export function* createEventExecutor(
  step: ScriptStep,
  inputCharacters: number,
  newId: () => string,
): Generator<EventExecutor> {
  yield* reasoningEvents(step);
  if (step.search) yield { type: "search", ...step.search };
  let sent = 0;
  for (const text of textDeltas(step.text)) {
    const stop = stopAfter(step, sent);
    if (stop) return yield { type: stop };
    if (sent > 0 && step.delayMs) yield { type: "pause", ms: step.delayMs };
    yield { type: "text", text };
    sent++;
  }
  const stop = stopAfter(step, sent);
  if (stop) return yield { type: stop };
  for (const { id, name, arguments: given } of step.toolCalls ?? []) {
    const argumentsText = typeof given === "string" ? given : JSON.stringify(given);
    yield { type: "tool-call", id: id ?? newId(), name, argumentsText };
  }
  if (step.streamError) {
    return yield {
      type: "stream-error",
      errorType: step.streamError.type,
      message: step.streamError.message,
    };
  }
  const reason = step.finish ?? ((step.toolCalls?.length ?? 0) > 0 ? "tool-calls" : "stop");
  yield { type: "finish", reason, usage: { ...guessUsage(step, inputCharacters), ...step.usage } };
  yield { type: step.afterFinish ?? "over" };
}

/** Word-sized deltas; joined they are the text. */
export function words(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

/** The deltas in which a tool's arguments are streamed. */
export function argumentDeltas(text: string): string[] {
  const deltas: string[] = [];
  for (let start = 0; start < text.length; start += ARGUMENT_DELTA_CHARACTERS) {
    deltas.push(text.slice(start, start + ARGUMENT_DELTA_CHARACTERS));
  }
  return deltas;
}

function* reasoningEvents({ reasoning, delayMs }: ScriptStep): Generator<EventExecutor> {
  if (reasoning === undefined) return;
  const isRedacted = typeof reasoning !== "string";
  const text = typeof reasoning === "string" ? reasoning : reasoning.text;
  for (const delta of isRedacted ? [] : words(text)) {
    yield { type: "reasoning", text: delta };
    if (delayMs) yield { type: "pause", ms: delayMs };
  }
  yield { type: "reasoning-end", isRedacted };
}

function textDeltas(text: ScriptStep["text"]): string[] {
  return typeof text === "string" ? words(text) : (text ?? []);
}

function stopAfter(step: ScriptStep, sentDeltas: number): "cut" | "end" | "hang" | undefined {
  if (step.cutAfterDeltas === sentDeltas) return "cut";
  if (step.endAfterDeltas === sentDeltas) return "end";
  return step.hang === sentDeltas ? "hang" : undefined;
}

function guessUsage(step: ScriptStep, inputCharacters: number): TokenUsage {
  const reasoning = typeof step.reasoning === "string" ? step.reasoning : (step.reasoning?.text ?? "");
  const text = textDeltas(step.text).reduce((total, delta) => total + delta.length, 0);
  const calls = JSON.stringify(step.toolCalls ?? []).length;
  const reasoningTokens = Math.ceil(reasoning.length / CHARACTERS_PER_TOKEN);
  return {
    inputTokens: Math.ceil(inputCharacters / CHARACTERS_PER_TOKEN),
    outputTokens: reasoningTokens + Math.ceil((text + calls) / CHARACTERS_PER_TOKEN),
    reasoningTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
}
