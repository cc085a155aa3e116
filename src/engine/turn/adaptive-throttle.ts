/**
 * Throttle of live deltas, adapted to the server's load: nearly every delta alone on an idle server, fewer and larger
 * batches on a busy one. Larger batches cost less, so the load settles at an interval that all readers can follow.
 */
import type { Clock } from "../../lib/clock.js";

/** Below what the eye perceives as a step, and below a fast model's gap between tokens: on an idle server each goes alone. */
export const SHORTEST_INTERVAL_MS = 15;
/** Together with the transport to the reader still below the 250 ms within which an answer feels live. */
const LONGEST_INTERVAL_MS = 150;
/** Often enough to meet a rush of turns, and long enough that a few turns starting together are not taken for one. */
const SAMPLE_INTERVAL_MS = 200;
/** Above the first, events begin to queue behind each other; below the second, the server can take more of them. */
const BUSY_LOAD = 0.85;
const IDLE_LOAD = 0.65;
/** As quickly down as up: a short rush must not delay the turns after it. */
const SLOW_DOWN = 2;
const SPEED_UP = 2;

/** The interval after a sample of the load, in [0, 1]. */
export function nextIntervalMs(intervalMs: number, load: number): number {
  if (load > BUSY_LOAD) return Math.min(LONGEST_INTERVAL_MS, intervalMs * SLOW_DOWN);
  if (load < IDLE_LOAD) return Math.max(SHORTEST_INTERVAL_MS, intervalMs / SPEED_UP);
  return intervalMs;
}

/** Shared by all turns of a server. */
export class AdaptiveThrottle {
  #intervalMs = SHORTEST_INTERVAL_MS;
  #sampledAt = -Infinity;

  /** `load` returns the share of time, in [0, 1], that the server was busy since the last call. */
  constructor(
    private readonly load: () => number,
    private readonly clock: Clock,
  ) {}

  /** Shortest time between two batches of one turn, in milliseconds. Cheap: called for each delta. */
  intervalMs(): number {
    const now = this.clock.now();
    if (now - this.#sampledAt < SAMPLE_INTERVAL_MS) return this.#intervalMs;
    // Time without calls counts as idle, so the first deltas after it are sent at once.
    this.#intervalMs = nextIntervalMs(this.#intervalMs, this.load());
    this.#sampledAt = now;
    return this.#intervalMs;
  }
}
