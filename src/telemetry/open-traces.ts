/** Exports spans to a collector: in batches, in the background, bounded in memory and time. */
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

/** Spans that wait for the collector, some 2 kB each; those beyond are lost. */
export const MAX_WAITING_SPANS = 8_192;
const MAX_BATCH_SPANS = 512;
const BATCH_INTERVAL_MS = 2_000;
/** For one batch, retries included. */
const EXPORT_TIMEOUT_MS = 10_000;
/** For the spans that still wait when the server shuts down. */
const LAST_FLUSH_MS = 3_000;
/** Failures are logged at most this often, with their number. */
const WARNING_INTERVAL_MS = 60_000;

export type TracesOptions = {
  /** The collector's address for OTLP over HTTP, without a trailing slash; `/v1/traces` is appended. */
  endpoint: string;
  /** Sent with every batch; may contain a key. */
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  version: string;
  /** Share of the traces that are sampled, from 0 to 1. */
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
  const processor = new BoundedSpanProcessor(otlp, log, clock);
  const sampler = new TraceIdRatioBasedSampler(ratio);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName, "service.version": version }),
    // A caller may turn sampling off for its trace, but not on.
    sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler }),
    spanProcessors: [processor],
  });
  return {
    traces: new OtelTraces(provider.getTracer("parley", version)),
    async close() {
      let cancel: () => void = () => undefined;
      const timeout = new Promise<void>((resolve) => (cancel = clock.after(LAST_FLUSH_MS, resolve)));
      const shutdown = provider.shutdown().catch((error: unknown) => processor.reportLost(error));
      await Promise.race([shutdown, timeout]);
      cancel();
    },
  };
}

/** A batch span processor that bounds its queue and logs lost spans; the library reports neither. */
class BoundedSpanProcessor implements SpanProcessor {
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
    if (this.#waiting >= MAX_WAITING_SPANS) return this.reportLost(new Error("Span queue is full"));
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  reportLost(error: unknown, spans = 1): void {
    this.#lost += spans;
    const now = this.clock.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    this.log.warn({ err: error, spans: this.#lost }, "span export failed; spans lost");
    this.#lost = 0;
  }

  #counted(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          this.#waiting -= spans.length;
          if (result.error !== undefined) this.reportLost(result.error, spans.length);
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
      ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
    };
  }
}
