/**
 * Spans for OpenTelemetry. Nothing is registered globally and no library is instrumented: spans are opened explicitly, and
 * the run context carries the current one. So no trace context leaks to model vendors or MCP servers.
 */
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  type SpanContext,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span as OtelSpan,
  type Tracer,
} from "@opentelemetry/api";
import { LRUCache } from "lru-cache";
import type { MeasuredOutcome } from "../domain/common/meters.js";
import type { OpenSpan, Span, SpanStart, SpanAttributes, Traces } from "../domain/common/traces.js";
import { currentContext, runWithContext } from "../lib/run-context.js";

/** Chats whose turn has not begun yet; the oldest entry is evicted, and its turn gets no link. */
const MAX_PENDING_CHATS = 1_000;
/** Names may come from clients' documents and from models. */
const MAX_NAME_CHARACTERS = 100;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:$|-)/;

export class OtelTraces implements Traces {
  readonly #tracer: Tracer;
  readonly #causes = new LRUCache<string, SpanContext>({ max: MAX_PENDING_CHATS });

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  open({ name, kind, attributes = {}, traceparent, turnOf }: SpanStart): OpenSpan {
    const parent = turnOf === undefined ? (fromHeader(traceparent) ?? activeContext()) : ROOT_CONTEXT;
    const cause = turnOf === undefined ? undefined : this.#causeOf(turnOf);
    const span = this.#tracer.startSpan(
      name.slice(0, MAX_NAME_CHARACTERS),
      {
        kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
        attributes: withoutNulls(attributes),
        ...(cause && { links: [{ context: cause }] }),
      },
      parent,
    );
    return new RecordedSpan(span, trace.setSpan(parent, span));
  }

  async within<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
    const span = this.open(start);
    const { trace: context, traceId } = span;
    try {
      return await runWithContext({ ...currentContext(), trace: context, traceId }, () => work(span));
    } catch (error) {
      span.fail(error instanceof Error ? error.name : "unknown");
      throw error;
    } finally {
      span.end();
    }
  }

  onChatPending(chatId: string): void {
    const span = trace.getSpan(activeContext());
    if (span) this.#causes.set(chatId, span.spanContext());
  }

  /** Recorded only within a span: statements of the process' own timers belong to no trace. */
  statement(statement: string, outcome: MeasuredOutcome, seconds: number): void {
    const parent = activeContext();
    // The span of a request has ended when work that it left behind still runs.
    if (!trace.getSpan(parent)?.isRecording()) return;
    const attributes = { "db.system.name": "postgresql", "db.operation.name": statement };
    const startTime = Date.now() - seconds * 1_000;
    const span = this.#tracer.startSpan(statement, { kind: SpanKind.CLIENT, attributes, startTime }, parent);
    if (outcome === "error") span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  #causeOf(chatId: string): SpanContext | undefined {
    const cause = this.#causes.get(chatId);
    this.#causes.delete(chatId);
    return cause;
  }
}

class RecordedSpan implements OpenSpan {
  readonly traceId: string;

  constructor(
    private readonly span: OtelSpan,
    readonly trace: Context,
  ) {
    this.traceId = span.spanContext().traceId;
  }

  setAttributes(attributes: SpanAttributes): void {
    this.span.setAttributes(withoutNulls(attributes));
  }

  fail(reason: string): void {
    this.span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
    this.span.setAttribute("error.type", reason);
  }

  end(): void {
    if (this.span.isRecording()) this.span.end();
  }
}

/** The context of the current span. Only this file sets it. */
function activeContext(): Context {
  return (currentContext()?.trace as Context | undefined) ?? ROOT_CONTEXT;
}

function fromHeader(header: string | undefined): Context | null {
  const [, traceId = "", spanId = "", flags = "0"] = TRACEPARENT.exec(header ?? "") ?? [];
  const isSampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const remote: SpanContext = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(remote) ? trace.setSpanContext(ROOT_CONTEXT, remote) : null;
}

function withoutNulls(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined),
  ) as Attributes;
}
