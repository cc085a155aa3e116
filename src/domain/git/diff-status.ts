/** When to ask git hosts again how chats' branches stand, and for whom together. Pure. */
import type { BranchFacts } from "./branch-facts.js";
import type { GitHostFailure } from "./git-hosts.js";

/** What one look at a chat's branch came to. */
export type PollOutcome =
  | { kind: "seen"; facts: BranchFacts }
  /** The chat's owner has no token for the host. */
  | { kind: "no-token" }
  /** No host that Parley knows how to ask. */
  | { kind: "no-host" }
  | { kind: "failed"; failure: GitHostFailure };

/** A look takes less; what a lost server had claimed is looked at again after this. */
export const CLAIM_MS = 5 * 60_000;
/** What is open is asked for as often. */
export const SEEN_TTL_MS = 120_000;
/** What is merged or closed hardly changes any more. */
export const SETTLED_TTL_MS = 30 * 60_000;
/** A push is marked before it happens, and what follows it takes its time: then a branch is looked at often. */
export const SOON_MS = 15_000;
/** A branch without a pull request gets it soon, or not so soon. */
export const EXPECTED_WITHIN_MS = 120_000;
/** A push of which the pull request does not know yet. */
export const SETTLING_MS = 30_000;
export const NO_TOKEN_MS = 10 * 60_000;
export const ERROR_MS = 120_000;
/** Hosts count from another clock, and all ask at once when the time has come. */
export const RATE_LIMIT_PADDING_MS = 5 * 60_000;
/** No host makes anybody wait for longer; what says so is wrong. */
const MAX_RATE_LIMIT_MS = 60 * 60_000;

/** Milliseconds until the next look. `sinceMarkedMs`: how long ago work on the branch was last seen. */
export function nextPollDelayMs(outcome: PollOutcome, sinceMarkedMs: number, now: number): number {
  switch (outcome.kind) {
    case "seen": {
      const { pullRequest } = outcome.facts;
      if (pullRequest === null) return sinceMarkedMs < EXPECTED_WITHIN_MS ? SOON_MS : CLAIM_MS;
      if (sinceMarkedMs < SETTLING_MS) return SOON_MS;
      return pullRequest.state === "open" ? SEEN_TTL_MS : SETTLED_TTL_MS;
    }
    case "no-token":
    case "no-host":
      return NO_TOKEN_MS;
    case "failed":
      return afterFailure(outcome.failure, now);
  }
}

function afterFailure(failure: GitHostFailure, now: number): number {
  switch (failure.kind) {
    case "rate-limited": {
      const wait = failure.retryAt === null ? 0 : failure.retryAt - now;
      return Math.min(Math.max(wait, 0), MAX_RATE_LIMIT_MS) + RATE_LIMIT_PADDING_MS;
    }
    case "unauthorized":
      return NO_TOKEN_MS;
    case "not-found":
    case "too-large":
    case "failed":
      return ERROR_MS;
  }
}

/** In one word for the store; null for a look that saw something. */
export function failureOf(outcome: PollOutcome): string | null {
  if (outcome.kind === "seen") return null;
  return outcome.kind === "failed" ? outcome.failure.kind : outcome.kind;
}

/** Those whose looks use one token: of one owner at one origin, in the order in which they came. */
export function groupByToken<T extends { ownerId: string; remoteOrigin: string }>(
  looks: readonly T[],
): T[][] {
  const groups = new Map<string, T[]>();
  for (const look of looks) {
    const key = `${look.ownerId} ${look.remoteOrigin}`;
    const group = groups.get(key);
    if (group) group.push(look);
    else groups.set(key, [look]);
  }
  return [...groups.values()];
}
