/** What people may spend: periods, whose limit counts, when it is reached, and what one call may cost at most. Pure. */
import type { ChatFailure } from "../common/failures.js";
import type { DateRange } from "./date-range.js";
import { costMicros, dollars, type ModelPricing } from "./money.js";
import type { TokenUsage } from "../chats/message-parts.js";

/** In UTC: from midnight, from Monday's midnight, from the first of the month. */
export const LIMIT_PERIODS = ["day", "week", "month"] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** Whose limit counts for a person: nobody's, the deployment's for everybody, or their own. */
export type LimitSource = "none" | "deployment" | "user";

/** The deployment's rules. Amounts are in microdollars. */
export type UsageLimitPolicy = {
  /** False = nobody has a limit, whatever else is set. */
  isEnabled: boolean;
  period: LimitPeriod;
  /** For everybody without a limit of their own; null = none, 0 = they may spend nothing. */
  defaultLimitMicros: bigint | null;
};

/** How a person stands at a moment. */
export type LimitStatus = {
  source: LimitSource;
  period: LimitPeriod;
  /** Null = no limit. */
  limitMicros: bigint | null;
  /** In the period, by calls whose cost is known. */
  spentMicros: bigint;
  /** The period; its end is when what was spent begins anew. */
  range: DateRange;
};

/** A standing with a limit. */
export type FiniteLimitStatus = LimitStatus & { limitMicros: bigint };

/** Whether something paid may begin. `unchecked`: nobody could find out, and then it may not. */
export type LimitCheck =
  { outcome: "allowed" } | { outcome: "reached"; status: FiniteLimitStatus } | { outcome: "unchecked" };

/** The greatest amount that the database keeps. */
export const GREATEST_LIMIT_MICROS = 2n ** 63n - 1n;

/** The period that a moment lies in; times are milliseconds since the epoch. */
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

/** Which limit counts for a person. `ownLimitMicros` null = they have none of their own. */
export function effectiveLimit(
  policy: UsageLimitPolicy,
  ownLimitMicros: bigint | null,
): Pick<LimitStatus, "source" | "limitMicros"> {
  if (!policy.isEnabled) return { source: "none", limitMicros: null };
  if (ownLimitMicros !== null) return { source: "user", limitMicros: ownLimitMicros };
  const { defaultLimitMicros: limitMicros } = policy;
  return { source: limitMicros === null ? "none" : "deployment", limitMicros };
}

/** Whoever has spent their limit, to the microdollar, may spend no more; so nobody may with a limit of 0. */
export function isReached(standing: LimitStatus): standing is FiniteLimitStatus {
  return standing.limitMicros !== null && standing.spentMicros >= standing.limitMicros;
}

/** Null = no limit; never below 0, though a call may have cost more than was left. */
export function remainingMicros({ limitMicros, spentMicros }: LimitStatus): bigint | null {
  if (limitMicros === null) return null;
  return spentMicros >= limitMicros ? 0n : limitMicros - spentMicros;
}

/** For people. */
export function limitReachedText({ limitMicros, spentMicros, period, range }: FiniteLimitStatus): string {
  const resetsAt = new Date(range.to).toISOString();
  return `The usage limit of ${dollars(limitMicros)} per ${period} is reached: ${dollars(spentMicros)} are spent. It begins anew at ${resetsAt}.`;
}

/** What ends a turn between two model calls. */
export function limitReachedFailure(standing: FiniteLimitStatus): ChatFailure {
  return { kind: "usage_limit", message: limitReachedText(standing), isRetryable: false };
}

/** For people: calls that are still going on may use up what is left. */
export function limitBusyFailure(limitMicros: bigint, period: LimitPeriod): ChatFailure {
  const message = `What is left of the usage limit of ${dollars(limitMicros)} per ${period} is kept for answers that are still being made in other chats. Try again when they are done.`;
  return { kind: "usage_limit", message, isRetryable: true };
}

/** Nobody could find out whether the limit allows a call. */
export const LIMIT_UNCHECKED: ChatFailure = {
  kind: "internal",
  message: "Whether the usage limit allows this could not be checked. Try again soon.",
  isRetryable: true,
};

/** Tokens that one call can use at most. */
export type MaxUsage = { inputTokens: number; outputTokens: number };

/**
 * What one call can cost at most, in microdollars: all of the prompt at its dearest kind of input, and the longest
 * answer. 0 for a free model, and for one without prices, whose cost nobody will know.
 */
export function maxCost(
  { inputTokens, outputTokens }: MaxUsage,
  pricing: ModelPricing | null,
): bigint {
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
