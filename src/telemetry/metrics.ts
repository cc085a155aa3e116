/**
 * All metrics of a server, for Prometheus. One method for each; other modules depend only on the types in
 * domain/common/meters. Names and units follow Prometheus' conventions.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { FailureKind } from "../domain/common/failures.js";
import type {
  LimitRefusalSite,
  LimitRefusalReason,
  McpCallOutcome,
  MeasuredOutcome,
  Meters,
  RequestKind,
  StepOutcome,
  ObservedGauge,
} from "../domain/common/meters.js";
import type { TokenUsage } from "../domain/chats/message-parts.js";
import type { RateLimit } from "../domain/common/rate-limits.js";
import { BoundedLabel } from "./bounded-label.js";

/** From a prepared statement's fraction of a millisecond to a query that needs attention. */
const STATEMENT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];
/** From a request's few milliseconds to the longest that a client waits. */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
/** From a demo model's first delta to a reasoning model's complete output. */
const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

const GAUGE_HELP: Record<ObservedGauge, string> = {
  running_chats: "Chats with a turn running on this server.",
  open_sockets: "Open WebSockets.",
  running_operations: "Subscriptions and other operations running on WebSockets and event streams.",
  connected_agents: "Workspace agents connected to this server.",
  redis_connected: "1 while events reach other servers through Redis, 0 while they do not or without Redis.",
  free_storage_bytes: "Free bytes on the disk of the embedded database; absent with an external database.",
};

export class Metrics implements Meters {
  readonly #registry = new Registry();
  readonly #servers = new BoundedLabel();
  readonly #models = new BoundedLabel();

  readonly #acquired = this.#histogram(
    "turn_acquire_seconds",
    "Time that a pending chat waited for a worker.",
    {
      buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300],
    },
  );
  readonly #firstPart = this.#histogram(
    "time_to_first_part_seconds",
    "Time from the request to a model until its first delta.",
    { buckets: CALL_SECONDS },
  );
  readonly #modelCalls = this.#histogram(
    "model_call_seconds",
    "Attempts of model calls, from request to end.",
    {
      labelNames: ["outcome"],
      buckets: CALL_SECONDS,
    },
  );
  readonly #tokens = this.#counter("model_tokens_total", "Tokens that model calls used.", ["model", "kind"]);
  readonly #toolCalls = this.#histogram(
    "tool_call_seconds",
    "Tool calls: built-in tools by name, others by source.",
    { labelNames: ["tool", "outcome"], buckets: CALL_SECONDS },
  );
  readonly #retries = this.#counter(
    "model_retries_total",
    "Failed attempts of model calls that are retried.",
    ["kind"],
  );
  readonly #compactions = this.#counter("compactions_total", "Compactions, by what caused them.", [
    "source",
    "outcome",
  ]);
  readonly #limitRefusals = this.#counter(
    "usage_limit_refusals_total",
    "Work that usage limits refused, by where and why.",
    ["site", "reason"],
  );
  readonly #mcpCalls = this.#histogram("mcp_call_seconds", "Calls of MCP servers' tools.", {
    labelNames: ["server", "outcome"],
    buckets: CALL_SECONDS,
  });
  readonly #mcpConnects = this.#histogram("mcp_connect_seconds", "Connections to MCP servers.", {
    labelNames: ["server", "outcome"],
    buckets: CALL_SECONDS,
  });
  readonly #fellBehind = this.#counter(
    "subscribers_fell_behind_total",
    "Subscribers that were too slow and restarted from a snapshot.",
    ["stream"],
  );
  readonly #dropped = this.#counter(
    "subscriber_events_dropped_total",
    "Events that slow subscribers did not get one by one.",
    ["stream"],
  );
  readonly #statements = this.#histogram(
    "sql_statement_seconds",
    "SQL statements, including the wait for a connection.",
    {
      labelNames: ["statement", "outcome"],
      buckets: STATEMENT_SECONDS,
    },
  );
  readonly #published = this.#histogram("redis_publish_seconds", "Events published to other servers.", {
    labelNames: ["kind", "outcome"],
    buckets: STATEMENT_SECONDS,
  });
  readonly #requests = this.#histogram("http_request_seconds", "HTTP requests, including refused ones.", {
    labelNames: ["operation", "status"],
    buckets: REQUEST_SECONDS,
  });
  readonly #rateLimited = this.#counter("rate_limited_total", "Requests refused by a rate limit.", ["limit"]);
  readonly #callRecords = this.#counter("model_call_records_total", "Records of model calls.", ["outcome"]);

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  acquired(waitSeconds: number): void {
    this.#acquired.observe(waitSeconds);
  }

  firstPart(seconds: number): void {
    this.#firstPart.observe(seconds);
  }

  modelCall(call: { outcome: StepOutcome; seconds: number; model: string; usage: TokenUsage | null }): void {
    this.#modelCalls.observe({ outcome: call.outcome }, call.seconds);
    if (call.usage === null) return;
    const model = this.#models.of(call.model);
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = call.usage;
    this.#tokens.inc({ model, kind: "input" }, inputTokens);
    this.#tokens.inc({ model, kind: "output" }, outputTokens);
    this.#tokens.inc({ model, kind: "cache_read" }, cacheReadTokens);
    this.#tokens.inc({ model, kind: "cache_write" }, cacheWriteTokens);
  }

  toolCall({ tool, outcome, seconds }: { tool: string; outcome: MeasuredOutcome; seconds: number }): void {
    this.#toolCalls.observe({ tool, outcome }, seconds);
  }

  retry(kind: FailureKind): void {
    this.#retries.inc({ kind });
  }

  compaction({ source, outcome }: { source: string; outcome: MeasuredOutcome }): void {
    this.#compactions.inc({ source, outcome });
  }

  limitRefusal(site: LimitRefusalSite, reason: LimitRefusalReason): void {
    this.#limitRefusals.inc({ site, reason });
  }

  mcpCall(call: { server: string; outcome: McpCallOutcome; seconds: number }): void {
    this.#mcpCalls.observe({ server: this.#servers.of(call.server), outcome: call.outcome }, call.seconds);
  }

  mcpConnect(connect: { server: string; outcome: McpCallOutcome; seconds: number }): void {
    const server = this.#servers.of(connect.server);
    this.#mcpConnects.observe({ server, outcome: connect.outcome }, connect.seconds);
  }

  fellBehind(stream: "chat" | "chat-list", dropped: number): void {
    this.#fellBehind.inc({ stream });
    this.#dropped.inc({ stream }, dropped);
  }

  statement(statement: string, outcome: MeasuredOutcome, seconds: number): void {
    this.#statements.observe({ statement, outcome }, seconds);
  }

  published(kind: string, outcome: MeasuredOutcome, seconds: number): void {
    this.#published.observe({ kind, outcome }, seconds);
  }

  request({ operation, status, seconds }: { operation: RequestKind; status: number; seconds: number }): void {
    this.#requests.observe({ operation, status }, seconds);
  }

  rateLimited(limit: RateLimit): void {
    this.#rateLimited.inc({ limit });
  }

  callRecord(outcome: "written" | "dropped" | "failed"): void {
    this.#callRecords.inc({ outcome });
  }

  observe(gauge: ObservedGauge, read: () => number): void {
    new Gauge({
      name: `parley_${gauge}`,
      help: GAUGE_HELP[gauge],
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** All metrics in Prometheus' text format, with its media type. */
  async read(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** Name, kind and help text of every metric, for the documentation. */
  describe(): { name: string; kind: string; help: string }[] {
    return this.#registry
      .getMetricsAsArray()
      .map((metric) => ({ name: metric.name, kind: String(metric.type), help: metric.help }));
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name: `parley_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram(
    name: string,
    help: string,
    { labelNames = [], buckets }: { labelNames?: string[]; buckets: number[] },
  ): Histogram {
    return new Histogram({ name: `parley_${name}`, help, labelNames, buckets, registers: [this.#registry] });
  }
}
