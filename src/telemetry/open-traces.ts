/** From spans to a collector: in batches, beside the work, bounded in memory and in time. */
import { resourceFromAttributes } from "@opentelemetry/resources";
import { TraceFlags } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-node";
import type { Traces } from "../domain/common/traces.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { OtelTraces } from "./traces.js";

/** Spans that wait for the collector, some 2 kB each; those beyond it are lost. */
export const MAX_WAITING_SPANS = 8_192;
const MAX_BATCH_SPANS = 512;
const BATCH_INTERVAL_MS = 2_000;
/** For one batch, tries included. */
const EXPORT_TIMEOUT_MS = 10_000;
/** At the end of the server, for everything that still waits. */
const LAST_FLUSH_MS = 3_000;
/** Failures are logged at most this often, with their number. */
const WARNING_INTERVAL_MS = 60_000;

export type TracesOptions = {
  /** The collector's address for OTLP over HTTP, without a slash at the end; `/v1/traces` is put after it. */
  endpoint: string;
  /** Sent with every batch; may hold a key. */
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  version: string;
  /** Of traces that begin here, from 0 to 1. */
  ratio: number;
  log: Log;
  clock: Clock;
};

export type OpenedTraces = { traces: Traces; close(): Promise<void> };

export function openTraces(options: TracesOptions): OpenedTraces {
  const { endpoint, headers, serviceName, version, ratio, log, clock } = options;
  const otlp = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const outlet = new Outlet(otlp, log, clock);
  const sampler = new TraceIdRatioBasedSampler(ratio);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName, "service.version": version }),
    // Whoever asks may say that a trace is not wanted; that it is, is said here.
    sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler }),
    spanProcessors: [outlet],
  });
  return {
    traces: new OtelTraces(provider.getTracer("parley", version)),
    async close() {
      let cancel: () => void = () => undefined;
      const patience = new Promise<void>((resolve) => (cancel = clock.after(LAST_FLUSH_MS, resolve)));
      const ending = provider.shutdown().catch((error: unknown) => outlet.failed(error));
      await Promise.race([ending, patience]);
      cancel();
    },
  };
}

/** Counts what waits, which the library does not tell, and says what is lost. */
class Outlet implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  #waiting = 0;
  #lost = 0;
  #warnedAt = -Infinity;

  constructor(
    exporter: SpanExporter,
    private readonly log: Log,
    private readonly clock: Clock,
  ) {
    this.#batches = new BatchSpanProcessor(this.#counted(exporter), {
      maxQueueSize: MAX_WAITING_SPANS,
      maxExportBatchSize: MAX_BATCH_SPANS,
      scheduledDelayMillis: BATCH_INTERVAL_MS,
      exportTimeoutMillis: EXPORT_TIMEOUT_MS,
    });
  }

  onStart(span: Span, context: Parameters<SpanProcessor["onStart"]>[1]): void {
    this.#batches.onStart(span, context);
  }

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#waiting >= MAX_WAITING_SPANS) return this.failed(new Error("Too many spans wait"));
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  failed(error: unknown, spans = 1): void {
    this.#lost += spans;
    const now = this.clock.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    this.log.warn({ err: error, spans: this.#lost }, "Spans could not be sent to the collector and are lost");
    this.#lost = 0;
  }

  #counted(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          this.#waiting -= spans.length;
          if (result.error !== undefined) this.failed(result.error, spans.length);
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
      ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
    };
  }
}
