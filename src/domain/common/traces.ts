/**
 * Ports for tracing requests and turns. Span names and attributes are fixed words, ids and numbers; never the content of
 * messages, nor parameters of SQL statements.
 */
import type { MeasuredOutcome, StatementMeter } from "./meters.js";

/** Named by OpenTelemetry's conventions where there are any, else `parley.…`. Null and undefined are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A traced unit of work. Its methods never throw. */
export interface Span {
  setAttributes(attributes: SpanAttributes): void;
  /** Marks the span as failed; `reason` is a fixed word or an error's kind. */
  fail(reason: string): void;
}

/** A span that its owner ends; `trace` and `traceId` are the context for work within it. */
export interface OpenSpan extends Span {
  readonly trace: object | undefined;
  readonly traceId: string | undefined;
  /** Idempotent. */
  end(): void;
}

export type SpanStart = {
  /** Low cardinality. */
  name: string;
  /** `server`: an incoming request; `client`: an outgoing one. */
  kind?: "server" | "client";
  attributes?: SpanAttributes;
  /** The caller's W3C `traceparent` header; ignored when malformed. */
  traceparent?: string | undefined;
  /** Starts a new trace for this chat's turn, linked to the request that made the chat pending, if it was on this replica. */
  turnOf?: string;
};

export interface Traces extends StatementMeter {
  /** A child of the current span, unless `start` says otherwise. */
  open(start: SpanStart): OpenSpan;
  /** Runs `work` in a span that ends with it and is failed when it rejects. */
  within<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** Records that the current request made the chat pending, for the link of its turn's trace. */
  onChatPending(chatId: string): void;
}

const nothing = () => undefined;

export const NO_SPAN: OpenSpan = {
  setAttributes: nothing,
  fail: nothing,
  end: nothing,
  trace: undefined,
  traceId: undefined,
};

/** Discards all spans. */
export const NO_TRACES: Traces = {
  open: () => NO_SPAN,
  within: (_start, work) => work(NO_SPAN),
  onChatPending: nothing,
  statement: nothing,
};

/** A statement meter that forwards to several. */
export function allStatementMeters(meters: readonly StatementMeter[]): StatementMeter {
  return {
    statement(name: string, outcome: MeasuredOutcome, seconds: number) {
      for (const meter of meters) meter.statement(name, outcome, seconds);
    },
  };
}
