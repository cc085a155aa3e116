/** Poll schedule for the branch status of chats, and the grouping of polls by token. Pure. */
import type { BranchFacts } from "./branch-facts.js";
import type { GitHostFailure } from "./git-hosts.js";

/** Outcome of one poll of a chat's branch. */
export type PollOutcome =
  | { kind: "seen"; facts: BranchFacts }
  /** The chat's owner has no token for the host. */
  | { kind: "no-token" }
  /** The remote is at no supported host. */
  | { kind: "no-host" }
  | { kind: "failed"; failure: GitHostFailure };

/** Longer than any poll takes; the polls that a lost server had claimed are repeated after this. */
export const CLAIM_MS = 5 * 60_000;
/** Poll interval of open pull requests. */
const OPEN_POLL_MS = 120_000;
/** Poll interval of merged and closed pull requests, which hardly change. */
const CLOSED_POLL_MS = 30 * 60_000;
/** Poll interval shortly after a push, which is marked before it happens and takes effect with a delay. */
const FRESH_PUSH_POLL_MS = 15_000;
/** How long after a push a new pull request is expected. */
const PULL_REQUEST_EXPECTED_WITHIN_MS = 120_000;
/** How long after a push the pull request may not reflect it yet. */
const PUSH_DELAY_MS = 30_000;
const NO_TOKEN_POLL_MS = 10 * 60_000;
const ERROR_POLL_MS = 120_000;
/** Added to a host's reset time: its clock differs, and it should not be hit by all polls at once. */
const RATE_LIMIT_PADDING_MS = 5 * 60_000;
/** Longer waits are not believed. */
const MAX_RATE_LIMIT_MS = 60 * 60_000;

/** Milliseconds until the next poll. `sinceMarkedMs`: time since work on the branch was last observed. */
export function nextPollDelayMs(outcome: PollOutcome, sinceMarkedMs: number, now: number): number {
  switch (outcome.kind) {
    case "seen": {
      const { pullRequest } = outcome.facts;
      if (pullRequest === null)
        return sinceMarkedMs < PULL_REQUEST_EXPECTED_WITHIN_MS ? FRESH_PUSH_POLL_MS : CLAIM_MS;
      if (sinceMarkedMs < PUSH_DELAY_MS) return FRESH_PUSH_POLL_MS;
      return pullRequest.state === "open" ? OPEN_POLL_MS : CLOSED_POLL_MS;
    }
    case "no-token":
    case "no-host":
      return NO_TOKEN_POLL_MS;
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
      return NO_TOKEN_POLL_MS;
    case "not-found":
    case "too-large":
    case "failed":
      return ERROR_POLL_MS;
  }
}

/** The failure kind to store; null for a successful poll. */
export function failureOf(outcome: PollOutcome): string | null {
  if (outcome.kind === "seen") return null;
  return outcome.kind === "failed" ? outcome.failure.kind : outcome.kind;
}

/** Groups polls that use the same token (same owner and origin), in their order. */
export function groupByToken<T extends { ownerId: string; remoteOrigin: string }>(
  polls: readonly T[],
): T[][] {
  const groups = new Map<string, T[]>();
  for (const poll of polls) {
    const key = `${poll.ownerId} ${poll.remoteOrigin}`;
    const group = groups.get(key);
    if (group) group.push(poll);
    else groups.set(key, [poll]);
  }
  return [...groups.values()];
}
