/** When a failed attempt is tried again. Pure. */
import type { ChatFailure } from "../../domain/common/failures.js";
import { MAX_ATTEMPTS_AT_WRONG_ADDRESS, MAX_ATTEMPTS_PER_STEP } from "../../domain/common/limits.js";

/** First wait; doubled with each attempt. */
const BASE_DELAY_MS = 1_000;
/** Longest wait of our own making. */
const MAX_DELAY_MS = 60_000;
/** Longest wait that a vendor may ask for with `retry-after`; a longer one is not worth a person's time. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

/**
 * Milliseconds to wait before the next attempt, or null when the turn has failed for good. `attempt` counts from
 * 1; `random` is in [0, 1). Half of the wait is jitter, so that chats that failed together do not return together.
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
