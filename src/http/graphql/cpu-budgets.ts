/**
 * CPU budget of each user in this process, in time of the event loop, which is what users take from each other.
 * Synchronous work is measured. For the asynchronous rest of an operation only the time of the whole loop is known: it
 * is divided among the running operations, and capped by what the operation's cost makes likely, so that users are not
 * charged for other load.
 */
import { performance } from "node:perf_hooks";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { HttpLimits } from "./limits.js";

export type CpuLimits = Pick<HttpLimits, "userCpuMsPerSecond" | "userCpuBurstMs">;

/** Some 100 bytes each; an evicted user starts with a full budget. */
const MAX_USERS = 10_000;
/** Measured: 20 to 60 µs per unit of cost, including the serialized response and the database client. */
const RUN_MS_PER_COST = 0.1;
/** Fixed overhead of an operation. */
const RUN_MS = 2;

export class CpuBudgets {
  /** Milliseconds left at a time; negative when overdrawn. */
  readonly #budgets = new LRUCache<string, { leftMs: number; at: number }>({ max: MAX_USERS });
  readonly #shares: CpuShares;

  constructor(
    private readonly limits: CpuLimits,
    private readonly clock: Pick<Clock, "now">,
    /** Milliseconds for which the event loop has been busy. */
    private readonly usedMs: () => number = busyMs,
  ) {
    this.#shares = new CpuShares(usedMs);
  }

  /** Milliseconds until the user's budget is positive again; null = it is. */
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

  /** Runs synchronous work and charges its CPU to the user. */
  measure<T>(userId: string, work: () => T): T {
    const before = this.usedMs();
    try {
      return work();
    } finally {
      this.charge(userId, this.usedMs() - before);
    }
  }

  /** Starts an operation of this cost; the returned function ends and charges it. */
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

/** The CPU time of the process would be a system call of 70 µs beside a dozen threads, several times per operation. */
function busyMs(): number {
  return performance.eventLoopUtilization().active;
}

/** Divides the busy time of the event loop evenly among the running operations. */
class CpuShares {
  #running = 0;
  #lastMs = 0;
  /** Share of a hypothetical operation that has run from the beginning. */
  #sumMs = 0;

  constructor(private readonly usedMs: () => number) {}

  /** Starts an operation; the returned function ends it and returns its share in milliseconds. Call it once. */
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
