/** How long an agent waits before it calls a server again. Pure. */
import type { CallEnd } from "./call.js";

const FIRST_WAIT_MS = 250;
/** A server that restarts is found within this. */
export const LONGEST_WAIT_MS = 15_000;
/** Whose place was taken stands by: it calls now and then, and is taken when the other has gone. */
export const STAND_BY_WAIT_MS = 30_000;

/**
 * `failures` in a row double the wait. `chance` in [0, 1) takes up to half of it away, so that a thousand agents of a
 * server that fell do not come back in one moment.
 */
export function waitAfter(end: CallEnd, failures: number, chance: number): number {
  const doubled = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10));
  const longest = end.wasReplaced ? STAND_BY_WAIT_MS : doubled;
  return Math.round(longest * (1 - chance / 2));
}
