/** Retry policy of failed attempts. Pure. */
import type { ChatFailure } from "../../domain/common/failures.js";
import { MAX_ATTEMPTS_AT_WRONG_ADDRESS, MAX_ATTEMPTS_PER_STEP } from "../../domain/common/limits.js";

/** First delay; doubled with each attempt. */
const BASE_DELAY_MS = 1_000;
/** Longest delay of our own. */
const MAX_DELAY_MS = 60_000;
/** Longest `retry-after` of a vendor that is honoured; a longer one is not worth a user's wait. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

/**
 * Delay before the next attempt in milliseconds, or null when the turn has failed for good. `attempt` counts from 1;
 * `random` is in [0, 1). Half of the delay is jitter, so that chats that failed together are not retried together.
 */
export function retryDelay(
  failure: ChatFailure,
  attempt: number,
  retryAfterMs: number | undefined,
  random: number,
): number | null {
  const attempts = failure.kind === "config" ? MAX_ATTEMPTS_AT_WRONG_ADDRESS : MAX_ATTEMPTS_PER_STEP;
  if (!failure.isRetryable || attempt >= attempts) return null;
  if (retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS) return null;
  const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** Math.min(attempt - 1, 16));
  const own = ceiling / 2 + (ceiling / 2) * random;
  return Math.round(Math.max(own, retryAfterMs ?? 0));
}
