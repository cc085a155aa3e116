/**
 * Ports for metrics. Every method returns immediately and never throws; durations are in seconds. Label values come from
 * short fixed lists or from admins' configuration, never from models or callers.
 */
import type { FailureKind } from "./failures.js";
import type { TokenUsage } from "../chats/message-parts.js";
import type { RateLimit } from "./rate-limits.js";

export type MeasuredOutcome = "ok" | "error";

/** Outcome of one model call; `stopped`: interrupted by the user or by a shutdown. */
export type StepOutcome = "completed" | "failed" | "stopped";

export interface TurnMeter {
  /** A pending chat was claimed, after this wait. */
  acquired(waitSeconds: number): void;
  /** Time from the request to the first delta of the answer. */
  firstPart(seconds: number): void;
  /** One model call, successful or not. */
  modelCall(call: { outcome: StepOutcome; seconds: number; model: string; usage: TokenUsage | null }): void;
  /** `tool` is the name of a built-in tool, else the origin of the tool. */
  toolCall(call: { tool: string; outcome: MeasuredOutcome; seconds: number }): void;
  /** A failed attempt will be retried. */
  retry(kind: FailureKind): void;
  /** A summary was requested; `source`: why. */
  compaction(compaction: { source: string; outcome: MeasuredOutcome }): void;
}

/** Outcome of a call of an MCP tool. `tool`: the tool itself reported an error. */
export type McpCallOutcome =
  "ok" | "refused" | "timeout" | "unreachable" | "unauthorised" | "cancelled" | "tool";

/** Where a usage limit refused work: before a message was sent, before a step of a turn, before a title. */
export type LimitRefusalSite = "send" | "step" | "title";
/** `busy`: other calls reserved what was left for too long. `unchecked`: the limit could not be checked. */
export type LimitRefusalReason = "reached" | "busy" | "unchecked";

export interface UsageLimitMeter {
  limitRefusal(site: LimitRefusalSite, reason: LimitRefusalReason): void;
}

export interface McpMeter {
  /** `server` is the server's slug. */
  mcpCall(call: { server: string; outcome: McpCallOutcome; seconds: number }): void;
  mcpConnect(connect: { server: string; outcome: Exclude<McpCallOutcome, "tool">; seconds: number }): void;
}

export interface SubscriberMeter {
  /** A subscriber was too slow; `dropped` events were discarded and its stream restarts with a refresh. */
  fellBehind(stream: "chat" | "chat-list", dropped: number): void;
}

export interface StatementMeter {
  /** `statement` is the name of a prepared statement. */
  statement(statement: string, outcome: MeasuredOutcome, seconds: number): void;
}

export interface RedisMeter {
  /** An event was published to other replicas; `error`: Redis refused it. */
  published(kind: string, outcome: MeasuredOutcome, seconds: number): void;
}

export interface RequestMeter {
  request(request: { operation: RequestKind; status: number; seconds: number }): void;
}

export interface RateLimitMeter {
  /** A request was refused by a rate limit. */
  rateLimited(limit: RateLimit): void;
}

export interface RecordMeter {
  /** Outcome of recording a model call; `dropped`: the buffer was full, `failed`: the database refused it. */
  callRecord(outcome: "written" | "dropped" | "failed"): void;
}

/** Kind of a request. */
export type RequestKind = "query" | "mutation" | "subscription" | "file" | "other";

/** Gauges that are read at each scrape instead of being set. */
export const OBSERVED_GAUGES = [
  "running_chats",
  "open_sockets",
  "running_operations",
  "connected_agents",
  "redis_connected",
  "free_storage_bytes",
] as const;
export type ObservedGauge = (typeof OBSERVED_GAUGES)[number];

export interface GaugeRegistry {
  /** Registers `read`, which is called at every scrape for as long as the process lives; it must not throw. */
  observe(gauge: ObservedGauge, read: () => number): void;
}

export type Meters = TurnMeter &
  UsageLimitMeter &
  McpMeter &
  SubscriberMeter &
  StatementMeter &
  RedisMeter &
  RequestMeter &
  RateLimitMeter &
  RecordMeter &
  GaugeRegistry;

const nothing = () => undefined;

/** Discards all measurements. */
export const NO_METERS: Meters = {
  acquired: nothing,
  firstPart: nothing,
  modelCall: nothing,
  toolCall: nothing,
  retry: nothing,
  compaction: nothing,
  limitRefusal: nothing,
  mcpCall: nothing,
  mcpConnect: nothing,
  fellBehind: nothing,
  statement: nothing,
  published: nothing,
  request: nothing,
  rateLimited: nothing,
  callRecord: nothing,
  observe: nothing,
};
