/**
 * Spans for OpenTelemetry. Nothing is registered for the whole process and no library is instrumented: what is a span is
 * said where it happens, and which span is around it is carried by `doing`. So nothing of a trace goes to vendors of
 * models or to tool servers by itself.
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
import type { OpenSpan, Span, SpanBeginning, TraceFacts, Traces } from "../domain/common/traces.js";
import { currentContext, runWithContext } from "../lib/run-context.js";

/** Chats whose turn has not begun yet, here; the oldest is forgotten, and its turn points nowhere. */
const MAX_WAITING_CHATS = 1_000;
/** Names come from documents and models, too. */
const MAX_NAME_CHARACTERS = 100;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:$|-)/;

export class OtelTraces implements Traces {
  readonly #tracer: Tracer;
  readonly #causes = new LRUCache<string, SpanContext>({ max: MAX_WAITING_CHATS });

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  open({ name, kind, facts = {}, traceparent, turnOf }: SpanBeginning): OpenSpan {
    const around = turnOf === undefined ? (fromHeader(traceparent) ?? present()) : ROOT_CONTEXT;
    const cause = turnOf === undefined ? undefined : this.#causeOf(turnOf);
    const span = this.#tracer.startSpan(
      name.slice(0, MAX_NAME_CHARACTERS),
      {
        kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
        attributes: attributesOf(facts),
        ...(cause && { links: [{ context: cause }] }),
      },
      around,
    );
    return new Recorded(span, trace.setSpan(around, span));
  }

  async within<T>(beginning: SpanBeginning, work: (span: Span) => Promise<T>): Promise<T> {
    const span = this.open(beginning);
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
    const span = trace.getSpan(present());
    if (span) this.#causes.set(chatId, span.spanContext());
  }

  /** Only as a part of something: what timers of the whole process ask belongs to no trace. */
  statement(statement: string, outcome: MeasuredOutcome, seconds: number): void {
    const around = present();
    // What a request has left running is no part of it.
    if (!trace.getSpan(around)?.isRecording()) return;
    const attributes = { "db.system.name": "postgresql", "db.operation.name": statement };
    const startTime = Date.now() - seconds * 1_000;
    const span = this.#tracer.startSpan(statement, { kind: SpanKind.CLIENT, attributes, startTime }, around);
    if (outcome === "error") span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  #causeOf(chatId: string): SpanContext | undefined {
    const cause = this.#causes.get(chatId);
    this.#causes.delete(chatId);
    return cause;
  }
}

class Recorded implements OpenSpan {
  readonly traceId: string;

  constructor(
    private readonly span: OtelSpan,
    readonly trace: Context,
  ) {
    this.traceId = span.spanContext().traceId;
  }

  add(facts: TraceFacts): void {
    this.span.setAttributes(attributesOf(facts));
  }

  fail(reason: string): void {
    this.span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
    this.span.setAttribute("error.type", reason);
  }

  end(): void {
    if (this.span.isRecording()) this.span.end();
  }
}

/** What is around whatever begins now. Only this file puts anything there. */
function present(): Context {
  return (currentContext()?.trace as Context | undefined) ?? ROOT_CONTEXT;
}

function fromHeader(header: string | undefined): Context | null {
  const [, traceId = "", spanId = "", flags = "0"] = TRACEPARENT.exec(header ?? "") ?? [];
  const isSampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const remote: SpanContext = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(remote) ? trace.setSpanContext(ROOT_CONTEXT, remote) : null;
}

function attributesOf(facts: TraceFacts): Attributes {
  return Object.fromEntries(
    Object.entries(facts).filter(([, fact]) => fact !== null && fact !== undefined),
  ) as Attributes;
}
