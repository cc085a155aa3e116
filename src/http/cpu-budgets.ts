/**
 * How much of this process's CPU each user has taken of late. What runs in one go is measured; of what an operation does
 * between its waits, only the time in which the event loop was busy is known: it is divided among the operations that run,
 * and no operation is charged with more than its cost makes likely, so that nobody pays for a server that is busy otherwise.
 */
import { performance } from "node:perf_hooks";
import { LRUCache } from "lru-cache";
import type { Clock } from "../lib/clock.js";
import type { HttpLimits } from "./limits.js";

export type CpuLimits = Pick<HttpLimits, "userCpuMsPerSecond" | "userCpuBurstMs">;

/** Some 100 bytes each; a user who is forgotten begins with a whole budget. */
const MAX_USERS = 10_000;
/** A resolved field with its part of the answer took 20 to 60 µs for each unit of cost, the database's client included. */
const RUN_MS_PER_COST = 0.1;
/** What any operation takes beside that. */
const RUN_MS = 2;

export class CpuBudgets {
  /** What is left at that time, in milliseconds; negative when more was taken than there was. */
  readonly #budgets = new LRUCache<string, { leftMs: number; at: number }>({ max: MAX_USERS });
  readonly #shares: LoopShares;

  constructor(
    private readonly limits: CpuLimits,
    private readonly clock: Pick<Clock, "now">,
    /** Milliseconds in which the event loop has been busy since some time. */
    busyMs: () => number = () => performance.eventLoopUtilization().active,
  ) {
    this.#shares = new LoopShares(busyMs);
  }

  /** Milliseconds until the user has something left; null: there is. */
  waitMs(userId: string): number | null {
    const { userCpuMsPerSecond: rate } = this.limits;
    if (rate === 0) return null;
    const leftMs = this.#left(userId);
    return leftMs > 0 ? null : Math.ceil(((1 - leftMs) / rate) * 1_000);
  }

  charge(userId: string, ms: number): void {
    if (this.limits.userCpuMsPerSecond === 0) return;
    this.#budgets.set(userId, { leftMs: this.#left(userId) - ms, at: this.clock.now() });
  }

  /** Runs synchronous work on the user's account. */
  measure<T>(userId: string, work: () => T): T {
    const startedAt = performance.now();
    try {
      return work();
    } finally {
      this.charge(userId, performance.now() - startedAt);
    }
  }

  /** An operation of this cost runs until the returned function is called. */
  run(userId: string, cost: number): () => void {
    const end = this.#shares.begin();
    return () => this.charge(userId, Math.min(end(), RUN_MS + cost * RUN_MS_PER_COST));
  }

  #left(userId: string): number {
    const { userCpuMsPerSecond: rate, userCpuBurstMs: most } = this.limits;
    const known = this.#budgets.get(userId);
    if (!known) return most;
    const gainedMs = (Math.max(0, this.clock.now() - known.at) * rate) / 1_000;
    return Math.min(most, known.leftMs + gainedMs);
  }
}

/** Divides the time in which the loop is busy evenly among those that run. */
class LoopShares {
  #running = 0;
  #lastMs = 0;
  /** What one that had run from the beginning would have got. */
  #sumMs = 0;

  constructor(private readonly busyMs: () => number) {}

  /** The returned function ends it and gives its share in milliseconds; call it once. */
  begin(): () => number {
    this.#advance();
    const before = this.#sumMs;
    this.#running += 1;
    return () => {
      this.#advance();
      this.#running -= 1;
      return this.#sumMs - before;
    };
  }

  #advance(): void {
    const nowMs = this.busyMs();
    if (this.#running > 0) this.#sumMs += (nowMs - this.#lastMs) / this.#running;
    this.#lastMs = nowMs;
  }
}
