/** Delay before an agent reconnects: exponential backoff with jitter. Pure. */
import type { ConnectionEnd } from "./server-connection.js";

const FIRST_DELAY_MS = 250;
/** A restarted server is found within this time. */
export const LONGEST_DELAY_MS = 15_000;
/** A replaced agent is on standby: it reconnects at this interval, and is registered once the other one has gone. */
export const STANDBY_DELAY_MS = 30_000;

/**
 * Doubles with each of `failures` in a row. `chance` in [0, 1) takes off up to half, so that a thousand agents of a
 * failed server do not reconnect at the same time.
 */
export function reconnectDelay(end: ConnectionEnd, failures: number, chance: number): number {
  const doubled = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 10));
  const longest = end.wasReplaced ? STANDBY_DELAY_MS : doubled;
  return Math.round(longest * (1 - chance / 2));
}
