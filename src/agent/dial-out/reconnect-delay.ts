/** How long an agent waits before it calls a server again. Pure. */
import type { ConnectionEnd } from "./server-connection.js";

const FIRST_DELAY_MS = 250;
/** A server that restarts is found within this. */
export const LONGEST_DELAY_MS = 15_000;
/** Whose place was taken stands by: it calls now and then, and is taken when the other has gone. */
export const STANDBY_DELAY_MS = 30_000;

/**
 * `failures` in a row double the wait. `chance` in [0, 1) takes up to half of it away, so that a thousand agents of a
 * server that fell do not come back in one moment.
 */
export function reconnectDelay(end: ConnectionEnd, failures: number, chance: number): number {
  const doubled = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 10));
  const longest = end.wasReplaced ? STANDBY_DELAY_MS : doubled;
  return Math.round(longest * (1 - chance / 2));
}
