/**
 * Enforces users' spending limits. Commands call `check` before starting anything that costs money, and each model call
 * is admitted by `admit`, which reserves its greatest possible cost until the actual cost is counted.
 *
 * A call waits while other calls of the same user reserve the rest of the limit: until one is done, the limit is
 * raised, or `WAIT_MS` have passed. On one replica only the first of a user's waiting calls polls the database. Users
 * without a limit need no statement: the users with one are cached, and changes invalidate the cache.
 */
import { randomUUID } from "node:crypto";
import type { ChatFailure } from "../../domain/common/failures.js";
import type { LimitRefusalSite, UsageLimitMeter } from "../../domain/common/meters.js";
import {
  isReached,
  LIMIT_UNCHECKED,
  type LimitCheck,
  type LimitStatus,
  limitBusyFailure,
  limitReachedFailure,
} from "../../domain/usage/usage-limits.js";
import type { Bus } from "../../events/bus/bus.js";
import { type Clock, sleep } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { type Memoized, memoizeWithTtl } from "../../lib/concurrency/memoize.js";
import { BoundedSemaphore } from "../../lib/concurrency/bounded-semaphore.js";
import type { Database } from "../../store/common/database.js";
import { releaseReservation, takeReservation } from "../../store/usage/usage-reservations.js";
import { type KnownLimits, readKnownLimits, readLimitStatus } from "../../store/usage/usage-limits.js";
import type { UsageLimitChecks } from "../../commands/usage/usage-limit-check.js";

/** The longest wait for other calls. A turn that waits costs nothing and can be stopped. */
const WAIT_MS = 15 * 60_000;
/** Poll interval for the end of calls on other replicas. */
const POLL_MS = 1_000;
/** Waiting calls of one user on one replica; a worker runs no more chats. */
const MAX_WAITING = 500;
/** Longer than any model call takes; for reservations that were not released although their worker is alive. */
const RESERVATION_MS = 60 * 60_000;
/** The same without a lease that shows a dead process; longer than a title may take. */
const UNLEASED_RESERVATION_MS = 60_000;

export type UsageLimitDependencies = {
  database: Database;
  clock: Clock;
  log: Log;
  bus: Pick<Bus, "onConfigChange">;
  meter: UsageLimitMeter;
  /** When the limit cannot be read: `closed` refuses, `open` allows. */
  whenUnchecked: "closed" | "open";
};

/** One model call, before it is made. */
export type PaidCall = {
  ownerId: string;
  /** The worker that makes it, whose lease bounds the reservation; null = none. */
  workerId: string | null;
  /** The greatest possible cost in microdollars; called only for users with a limit. */
  maxCost(): bigint;
  site: LimitRefusalSite;
  /** False = refused instead of waiting. */
  waits: boolean;
};

/** `stopped`: the signal was aborted first. Call `release` once the call's usage is counted; it never rejects. */
export type Admission =
  | { type: "admitted"; release(): Promise<void> }
  | { type: "refused"; failure: ChatFailure }
  | { type: "stopped" };

/** Queue of one user's calls; the first one polls. */
type UserQueue = { semaphore: BoundedSemaphore; wake: AbortController };

const UNLIMITED: Admission = { type: "admitted", release: () => Promise.resolve() };

export class UsageLimits implements UsageLimitChecks {
  readonly #dependencies: UsageLimitDependencies;
  readonly #known: Memoized<KnownLimits>;
  /** The last known value; used while the database cannot be read. */
  #wasEnabled: boolean | null = null;
  readonly #queues = new Map<string, UserQueue>();
  readonly #stopListening: () => void;

  constructor(dependencies: UsageLimitDependencies) {
    this.#dependencies = dependencies;
    this.#known = memoizeWithTtl(
      () => dependencies.clock.now(),
      () => readKnownLimits(dependencies.database),
    );
    this.#stopListening = dependencies.bus.onConfigChange((topic) => {
      if (topic !== "usage-limits") return;
      this.#known.invalidate();
      for (const { wake } of this.#queues.values()) wake.abort();
    });
  }

  /** The user's spend against their limit, from the database. */
  status(userId: string): Promise<LimitStatus> {
    const { database, clock } = this.#dependencies;
    return readLimitStatus(database, userId, clock.now());
  }

  async check(ownerId: string): Promise<LimitCheck> {
    try {
      if (!(await this.#isLimited(ownerId))) return { outcome: "allowed" };
      const status = await this.status(ownerId);
      if (!isReached(status)) return { outcome: "allowed" };
      this.#dependencies.meter.limitRefusal("send", "reached");
      return { outcome: "reached", status: status };
    } catch (error) {
      return { outcome: this.#passesUnchecked(error, ownerId, "send") ? "allowed" : "unchecked" };
    }
  }

  /** Never rejects. */
  async admit(call: PaidCall, signal: AbortSignal): Promise<Admission> {
    const { ownerId, site } = call;
    try {
      if (!(await this.#isLimited(ownerId))) return UNLIMITED;
      const micros = call.maxCost();
      // A call without a known price needs no reservation.
      if (micros === 0n) return this.#refusalFor(await this.status(ownerId), site) ?? UNLIMITED;
      const request = { call, micros, deadline: this.#dependencies.clock.now() + WAIT_MS, queue: null };
      return call.waits ? await this.#inQueue(request, signal) : await this.#poll(request, signal);
    } catch (error) {
      if (this.#passesUnchecked(error, ownerId, site)) return UNLIMITED;
      return { type: "refused", failure: LIMIT_UNCHECKED };
    }
  }

  close(): void {
    this.#stopListening();
    for (const { semaphore, wake } of this.#queues.values()) {
      semaphore.close();
      wake.abort();
    }
  }

  async #isLimited(ownerId: string): Promise<boolean> {
    try {
      const known = await this.#known();
      this.#wasEnabled = known.isEnabled;
      return known.isEnabled && (known.defaultLimitMicros !== null || known.limitedUserIds.has(ownerId));
    } catch (error) {
      // Without limits a failing database is no reason to refuse.
      if (this.#wasEnabled === false) return false;
      throw error;
    }
  }

  /** Logs the failure; whether the call is allowed without a check. */
  #passesUnchecked(error: unknown, ownerId: string, site: LimitRefusalSite): boolean {
    const { log, meter, whenUnchecked } = this.#dependencies;
    const isOpen = whenUnchecked === "open";
    log.error({ err: error, ownerId, site, whenUnchecked }, "usage limit could not be read");
    if (!isOpen) meter.limitRefusal(site, "unchecked");
    return isOpen;
  }

  #refusalFor(status: LimitStatus, site: LimitRefusalSite): Admission | null {
    if (!isReached(status)) return null;
    this.#dependencies.meter.limitRefusal(site, "reached");
    return { type: "refused", failure: limitReachedFailure(status) };
  }

  async #inQueue(request: AdmissionRequest, signal: AbortSignal): Promise<Admission> {
    const { ownerId } = request.call;
    const queue = this.#queueOf(ownerId);
    const entering = queue.semaphore.acquire();
    const leave = await orStopped(entering, signal);
    if (leave === STOPPED) {
      entering.then((late) => this.#leave(ownerId, queue, late)).catch(() => undefined);
      return { type: "stopped" };
    }
    try {
      return await this.#poll({ ...request, queue: leave === null ? null : queue }, signal);
    } finally {
      this.#leave(ownerId, queue, leave);
    }
  }

  /** Polls until the call is admitted or refused, or has waited for too long. */
  async #poll(request: AdmissionRequest, signal: AbortSignal): Promise<Admission> {
    const { database, clock } = this.#dependencies;
    const { call, micros, deadline, queue } = request;
    const { ownerId, workerId, site } = call;
    for (;;) {
      if (signal.aborted) return { type: "stopped" };
      // Before the statement, so that a change during it ends the sleep.
      if (queue !== null) queue.wake = new AbortController();
      const id = randomUUID();
      const lifeMs = workerId === null ? UNLEASED_RESERVATION_MS : RESERVATION_MS;
      const request = { id, ownerId, workerId, micros, lifeMs, now: clock.now() };
      const { isTaken, status } = await takeReservation(database, request);
      if (isTaken) return { type: "admitted", release: () => this.#release(id, ownerId) };
      const refused = this.#refusalFor(status, site);
      if (refused !== null) return refused;
      // The limit was removed meanwhile.
      if (status.limitMicros === null) return UNLIMITED;
      if (queue === null || clock.now() >= deadline) return this.#busy(status, site);
      await this.#sleep(queue, signal);
    }
  }

  #busy({ limitMicros, period }: LimitStatus, site: LimitRefusalSite): Admission {
    this.#dependencies.meter.limitRefusal(site, "busy");
    return { type: "refused", failure: limitBusyFailure(limitMicros ?? 0n, period) };
  }

  /** Sleeps until a reservation was released here, limits were changed, or the next poll is due. */
  async #sleep({ wake }: UserQueue, signal: AbortSignal): Promise<void> {
    const end = () => wake.abort();
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await sleep(this.#dependencies.clock, POLL_MS, wake.signal);
    signal.removeEventListener("abort", end);
  }

  async #release(id: string, ownerId: string): Promise<void> {
    const { database, log } = this.#dependencies;
    try {
      await releaseReservation(database, id);
    } catch (error) {
      log.error({ err: error, ownerId, id }, "releasing a reservation failed; it ends when it expires");
    }
    this.#queues.get(ownerId)?.wake.abort();
  }

  #queueOf(ownerId: string): UserQueue {
    const known = this.#queues.get(ownerId);
    if (known) return known;
    const bounds = { maxRunning: 1, maxWaiting: MAX_WAITING, waitMs: WAIT_MS };
    const queue = {
      semaphore: new BoundedSemaphore(bounds, this.#dependencies.clock),
      wake: new AbortController(),
    };
    this.#queues.set(ownerId, queue);
    return queue;
  }

  /** Leaves the queue and removes it when it is empty. */
  #leave(ownerId: string, queue: UserQueue, leave: (() => void) | null): void {
    leave?.();
    const { running, waiting } = queue.semaphore.count();
    if (running + waiting === 0 && this.#queues.get(ownerId) === queue) this.#queues.delete(ownerId);
  }
}

type AdmissionRequest = {
  call: PaidCall;
  micros: bigint;
  /** Milliseconds since the epoch. */
  deadline: number;
  /** The queue whose first call this is; null = polls once, as it does not wait or has waited long enough. */
  queue: UserQueue | null;
};

const STOPPED = Symbol("stopped");

function orStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | typeof STOPPED> {
  if (signal.aborted) return Promise.resolve(STOPPED);
  return new Promise((resolve, reject) => {
    const stop = () => resolve(STOPPED);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
