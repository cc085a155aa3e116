/**
 * How much of this process's CPU each user has taken of late. What runs in one go is measured; of what an operation does
 * between its waits, only what the whole process has used meanwhile is known: it is divided among the operations that run,
 * and no operation is charged with more than its cost makes likely, so that nobody pays for a server that is busy otherwise.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
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
  readonly #shares: CpuShares;

  constructor(
    private readonly limits: CpuLimits,
    private readonly clock: Pick<Clock, "now">,
    /** Milliseconds of CPU that the process has used. Not the time of day: another program's turn is nobody's fault. */
    private readonly usedMs: () => number = processCpuMs,
  ) {
    this.#shares = new CpuShares(usedMs);
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
    const before = this.usedMs();
    try {
      return work();
    } finally {
      this.charge(userId, this.usedMs() - before);
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

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Divides what the process uses evenly among the operations that run. */
class CpuShares {
  #running = 0;
  #lastMs = 0;
  /** What one that had run from the beginning would have got. */
  #sumMs = 0;

  constructor(private readonly usedMs: () => number) {}

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
    const nowMs = this.usedMs();
    if (this.#running > 0) this.#sumMs += (nowMs - this.#lastMs) / this.#running;
    this.#lastMs = nowMs;
  }
}
