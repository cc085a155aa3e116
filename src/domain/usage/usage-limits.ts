/** Usage limits of users: periods, which limit applies, when it is reached, and the maximum cost of a call. Pure. */
import type { ChatFailure } from "../common/failures.js";
import type { DateRange } from "./date-range.js";
import { costMicros, formatDollars, type ModelPricing } from "./money.js";
import type { TokenUsage } from "../chats/message-parts.js";

/** UTC periods; a week begins on Monday. */
export const LIMIT_PERIODS = ["day", "week", "month"] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** Where a user's limit comes from: there is none, it is the deployment's default, or their own. */
export type LimitSource = "none" | "deployment" | "user";

/** The deployment's policy. Amounts are in microdollars. */
export type UsageLimitPolicy = {
  /** False = no limits apply, whatever else is set. */
  isEnabled: boolean;
  period: LimitPeriod;
  /** For users without a limit of their own; null = none, 0 = they may spend nothing. */
  defaultLimitMicros: bigint | null;
};

/** A user's spending against their limit. */
export type LimitStatus = {
  source: LimitSource;
  period: LimitPeriod;
  /** Null = no limit. */
  limitMicros: bigint | null;
  /** Spent in the period, by calls whose cost is known. */
  spentMicros: bigint;
  /** The current period; spending resets at its end. */
  range: DateRange;
};

/** A status with a limit. */
type FiniteLimitStatus = LimitStatus & { limitMicros: bigint };

/** Whether paid work may begin. `unchecked`: the check failed, so it may not. */
export type LimitCheck =
  { outcome: "allowed" } | { outcome: "reached"; status: FiniteLimitStatus } | { outcome: "unchecked" };

/** The period that contains `now`; times are milliseconds since the epoch. */
export function periodAt(period: LimitPeriod, now: number): DateRange {
  const at = new Date(now);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  switch (period) {
    case "day":
      return { from: Date.UTC(year, month, day), to: Date.UTC(year, month, day + 1) };
    case "week": {
      const sinceMonday = (at.getUTCDay() + 6) % 7;
      const monday = day - sinceMonday;
      return { from: Date.UTC(year, month, monday), to: Date.UTC(year, month, monday + 7) };
    }
    case "month":
      return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
  }
}

/** The limit that applies to a user. `ownLimitMicros` null = they have none of their own. */
export function effectiveLimit(
  policy: UsageLimitPolicy,
  ownLimitMicros: bigint | null,
): Pick<LimitStatus, "source" | "limitMicros"> {
  if (!policy.isEnabled) return { source: "none", limitMicros: null };
  if (ownLimitMicros !== null) return { source: "user", limitMicros: ownLimitMicros };
  const { defaultLimitMicros: limitMicros } = policy;
  return { source: limitMicros === null ? "none" : "deployment", limitMicros };
}

/** Whether the limit is used up, to the microdollar. A limit of 0 always is. */
export function isReached(status: LimitStatus): status is FiniteLimitStatus {
  return status.limitMicros !== null && status.spentMicros >= status.limitMicros;
}

/** What is left of the limit; null = no limit. Never negative, though a call may have cost more than was left. */
export function remainingMicros({ limitMicros, spentMicros }: LimitStatus): bigint | null {
  if (limitMicros === null) return null;
  return spentMicros >= limitMicros ? 0n : limitMicros - spentMicros;
}

/** Worded for users. */
export function limitReachedText({ limitMicros, spentMicros, period, range }: FiniteLimitStatus): string {
  const resetsAt = new Date(range.to).toISOString();
  return `The usage limit of ${formatDollars(limitMicros)} per ${period} is reached: ${formatDollars(spentMicros)} are spent. It resets at ${resetsAt}.`;
}

/** The failure that ends a turn before its next model call. */
export function limitReachedFailure(status: FiniteLimitStatus): ChatFailure {
  return { kind: "usage_limit", message: limitReachedText(status), isRetryable: false };
}

/** The failure when calls in progress have reserved what is left of the limit. */
export function limitBusyFailure(limitMicros: bigint, period: LimitPeriod): ChatFailure {
  const message = `What is left of the usage limit of ${formatDollars(limitMicros)} per ${period} is reserved for answers in progress in other chats. Try again when they are done.`;
  return { kind: "usage_limit", message, isRetryable: true };
}

/** The failure when the limit could not be checked. */
export const LIMIT_UNCHECKED: ChatFailure = {
  kind: "internal",
  message: "Whether the usage limit allows this could not be checked. Try again soon.",
  isRetryable: true,
};

/** The maximum tokens of one call. */
export type MaxUsage = { inputTokens: number; outputTokens: number };

/**
 * The maximum cost of one call in microdollars: the whole prompt at its most expensive kind of input, and the longest
 * answer. 0 for a free model, and for one without prices, whose cost is never known.
 */
export function maxCost({ inputTokens, outputTokens }: MaxUsage, pricing: ModelPricing | null): bigint {
  const none = { inputTokens: 0, outputTokens, reasoningTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const uses: TokenUsage[] = [
    { ...none, inputTokens },
    { ...none, cacheReadTokens: inputTokens },
    { ...none, cacheWriteTokens: inputTokens },
  ];
  return uses
    .map((usage) => costMicros(usage, pricing) ?? 0n)
    .reduce((greatest, cost) => (cost > greatest ? cost : greatest), 0n);
}
