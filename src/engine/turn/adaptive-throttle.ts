/**
 * How often running turns speak: each delta almost as it comes while the server has time, fewer and larger ones the
 * less it has. What is told less often costs less, so the load itself finds the interval at which everyone keeps up.
 */
import type { Clock } from "../../lib/clock.js";

/** Below what an eye sees as a step, and below a fast model's gap between tokens: on a quiet server each goes alone. */
export const SHORTEST_INTERVAL_MS = 15;
/** With the way to the reader still below the quarter of a second in which an answer feels live. */
const LONGEST_INTERVAL_MS = 150;
/** Often enough to meet a rush of turns, and long enough that some which begin together are not taken for one. */
const LOOK_EVERY_MS = 200;
/** Above it events begin to queue behind each other; below the other there is room for more of them. */
const BUSY = 0.85;
const IDLE = 0.65;
/** As quickly back as out: a short rush must not make the turns after it wait. */
const SLOW_DOWN = 2;
const SPEED_UP = 2;

/** The interval after a look that found the server busy for this share of the time. */
export function nextIntervalMs(intervalMs: number, load: number): number {
  if (load > BUSY) return Math.min(LONGEST_INTERVAL_MS, intervalMs * SLOW_DOWN);
  if (load < IDLE) return Math.max(SHORTEST_INTERVAL_MS, intervalMs / SPEED_UP);
  return intervalMs;
}

/** One for all turns of a server. */
export class AdaptiveThrottle {
  #intervalMs = SHORTEST_INTERVAL_MS;
  #lookedAt = -Infinity;

  /** `load` tells the share of time, in [0, 1], that the server was busy since it was last asked. */
  constructor(
    private readonly load: () => number,
    private readonly clock: Clock,
  ) {}

  /** The shortest time between two announcements of one turn, in milliseconds. Cheap: asked for each delta. */
  intervalMs(): number {
    const now = this.clock.now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return this.#intervalMs;
    // A silence counts as time with nothing to do, so the first turns after it speak at once.
    this.#intervalMs = nextIntervalMs(this.#intervalMs, this.load());
    this.#lookedAt = now;
    return this.#intervalMs;
  }
}
