/**
 * What the rooms tell whoever follows requests and turns through the server: which work belongs to which, and how long it
 * took. Names and facts are words of ours, ids and figures; never what people or models say, nor values of statements.
 */
import type { MeasuredOutcome, StatementMeter } from "./meters.js";

/** By OpenTelemetry's conventions where it has any, else `parley.…`. Null and undefined are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** One piece of work. Nothing here throws. */
export interface Span {
  setAttributes(facts: SpanAttributes): void;
  /** The work has failed; `reason` is a word of ours or an error's kind. */
  fail(reason: string): void;
}

/** A span that its owner ends; `trace` and `traceId` are what work within it is done for. */
export interface OpenSpan extends Span {
  readonly trace: object | undefined;
  readonly traceId: string | undefined;
  /** A second call does nothing. */
  end(): void;
}

export type SpanStart = {
  /** Of few different ones. */
  name: string;
  /** `server`: somebody asks us; `client`: we ask somebody else. */
  kind?: "server" | "client";
  attributes?: SpanAttributes;
  /** The W3C header of whoever asks; what is no such thing is passed over. */
  traceparent?: string | undefined;
  /** A trace of its own, pointing to the request that made this chat wait for its turn, if that was here. */
  turnOf?: string;
};

export interface Traces extends StatementMeter {
  /** Within what is being done now, unless the beginning says otherwise. */
  open(beginning: SpanStart): OpenSpan;
  /** Does the work within a span of its own, which ends with it; failed when it rejects. */
  within<T>(beginning: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** What is being done now has made the chat wait for a turn. */
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

/** Nobody follows. */
export const NO_TRACES: Traces = {
  open: () => NO_SPAN,
  within: (_beginning, work) => work(NO_SPAN),
  onChatPending: nothing,
  statement: nothing,
};

/** Tells several. */
export function allStatementMeters(meters: readonly StatementMeter[]): StatementMeter {
  return {
    statement(name: string, outcome: MeasuredOutcome, seconds: number) {
      for (const meter of meters) meter.statement(name, outcome, seconds);
    },
  };
}
