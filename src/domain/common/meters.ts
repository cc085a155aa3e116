/**
 * What the rooms tell whoever measures them. Every method returns at once and never throws; durations are in seconds.
 * Words that become labels come from short lists of ours or are set up by admins, never from models or strangers.
 */
import type { FailureKind } from "./failures.js";
import type { TokenUsage } from "../chats/message-parts.js";
import type { RateLimit } from "./rate-limits.js";

/** How something ended that may fail. */
export type MeasuredOutcome = "ok" | "error";

/** How one attempt at a model call ended; `stopped`: a person or the end of the server came first. */
export type StepOutcome = "completed" | "failed" | "stopped";

export interface TurnMeter {
  /** A chat was taken that had waited. */
  acquired(waitSeconds: number): void;
  /** The first piece of an answer came, after the model was asked. */
  firstPart(seconds: number): void;
  /** One attempt at a model call. */
  modelCall(call: { outcome: StepOutcome; seconds: number; model: string; usage: TokenUsage | null }): void;
  /** `tool` is the name of one of ours, else where it came from. */
  toolCall(call: { tool: string; outcome: MeasuredOutcome; seconds: number }): void;
  /** An attempt failed and is made again. */
  retry(kind: FailureKind): void;
  /** A summary was asked for; `source`: why. */
  compaction(compaction: { source: string; outcome: MeasuredOutcome }): void;
}

/** Why a call of a tool server's tool failed. `tool`: the tool itself says that it did. */
export type McpCallOutcome =
  "ok" | "refused" | "timeout" | "unreachable" | "unauthorised" | "cancelled" | "tool";

/** Where a usage limit was in the way: before something was begun, between the calls of a turn, before a title. */
export type LimitRefusalSite = "send" | "step" | "title";
/** `busy`: other calls held what was left for too long. `unchecked`: nobody could find out. */
export type LimitRefusalReason = "reached" | "busy" | "unchecked";

export interface UsageLimitMeter {
  limitRefusal(place: LimitRefusalSite, reason: LimitRefusalReason): void;
}

export interface McpMeter {
  /** `server` is its slug. */
  mcpCall(call: { server: string; outcome: McpCallOutcome; seconds: number }): void;
  mcpConnect(connect: { server: string; outcome: Exclude<McpCallOutcome, "tool">; seconds: number }): void;
}

export interface SubscriberMeter {
  /** A reader was too slow; `dropped` events were thrown away and it begins anew. */
  fellBehind(stream: "chat" | "chat-list", dropped: number): void;
}

export interface StatementMeter {
  /** `statement` is the name of a prepared one. */
  statement(statement: string, outcome: MeasuredOutcome, seconds: number): void;
}

export interface RedisMeter {
  /** News was sent to other replicas; `error`: Redis did not take it. */
  published(kind: string, outcome: MeasuredOutcome, seconds: number): void;
}

export interface RequestMeter {
  request(request: { operation: RequestKind; status: number; seconds: number }): void;
}

export interface RateLimitMeter {
  /** Somebody was turned away who had asked too often. */
  rateLimited(limit: RateLimit): void;
}

export interface RecordMeter {
  /** A model call was to be recorded; `dropped`: there was no room, `failed`: the database did not take it. */
  callRecord(outcome: "written" | "dropped" | "failed"): void;
}

/** What a request was for. */
export type RequestKind = "query" | "mutation" | "subscription" | "file" | "other";

/** What is read when somebody looks, instead of being told. */
export const OBSERVED_GAUGES = [
  "running_chats",
  "open_sockets",
  "running_operations",
  "called_agents",
  "redis_connected",
  "free_storage_bytes",
] as const;
export type ObservedGauge = (typeof OBSERVED_GAUGES)[number];

export interface GaugeRegistry {
  /** `read` is called at every look, for as long as the process lives; it must not throw. */
  observe(watched: ObservedGauge, read: () => number): void;
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

/** Nobody measures. */
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
