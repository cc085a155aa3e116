/**
 * Keeps people within what they may spend. Commands ask before they begin something paid (`check`), and whoever is about
 * to call a model asks for leave (`admit`): the greatest that the call can cost is held until what it did cost is counted.
 *
 * A call waits while others of the same person hold what is left of the limit: until they are done, the limit is
 * raised, or `WAIT_MS` have passed. On one replica only the first of a person's waiting calls asks the database.
 * Whoever has no limit costs no statement: who has one is remembered, and heard of when it changes.
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
import { dropHold, takeHold } from "../../store/usage/usage-reservations.js";
import { type KnownLimits, readKnownLimits, readLimitStanding } from "../../store/usage/usage-limits.js";
import type { UsageLimitChecks } from "../../commands/usage/usage-limit-check.js";

/** The longest wait for other calls. A turn that waits costs nothing and can be stopped. */
const WAIT_MS = 15 * 60_000;
/** How soon it is noticed that a call on another replica is done. */
const LOOK_MS = 1_000;
/** Calls of one person that wait on one replica; a worker runs no more chats. */
const MAX_WAITING = 500;
/** Longer than any model call takes; for holds whose end was lost while their worker lives on. */
const HOLD_LIFE_MS = 60 * 60_000;
/** The same where no lease tells of a process that died; longer than a title may take. */
const UNLEASED_HOLD_LIFE_MS = 60_000;

export type UsageLimitDependencies = {
  database: Database;
  clock: Clock;
  log: Log;
  bus: Pick<Bus, "onConfigChange">;
  meter: UsageLimitMeter;
  /** What happens when the limit cannot be looked at: `closed` refuses, `open` lets pass. */
  whenUnchecked: "closed" | "open";
};

/** One model call, before it is made. */
export type PaidCall = {
  ownerId: string;
  /** The worker that makes it, by whose lease the hold lives; null = none. */
  workerId: string | null;
  /** What it can cost at most, in microdollars; asked only of people with a limit. */
  maxCost(): bigint;
  place: LimitRefusalSite;
  /** False = it is not worth a wait. */
  waits: boolean;
};

/** `stopped`: the signal came first. `release` is called once what the call used is counted; it never rejects. */
export type Admission =
  | { type: "admitted"; release(): Promise<void> }
  | { type: "refused"; failure: ChatFailure }
  | { type: "stopped" };

/** The one of a person's calls that asks, and those behind it. */
type Line = { semaphore: BoundedSemaphore; wake: AbortController };

const FREELY: Admission = { type: "admitted", release: () => Promise.resolve() };

export class UsageLimits implements UsageLimitChecks {
  readonly #dependencies: UsageLimitDependencies;
  readonly #known: Memoized<KnownLimits>;
  /** As it was read last; what was off a moment ago is off while nothing can be read. */
  #wasEnabled: boolean | null = null;
  readonly #lines = new Map<string, Line>();
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
      for (const { wake } of this.#lines.values()) wake.abort();
    });
  }

  /** How the person stands now, from the database. */
  standing(userId: string): Promise<LimitStatus> {
    const { database, clock } = this.#dependencies;
    return readLimitStanding(database, userId, clock.now());
  }

  async check(ownerId: string): Promise<LimitCheck> {
    try {
      if (!(await this.#isLimited(ownerId))) return { outcome: "allowed" };
      const standing = await this.standing(ownerId);
      if (!isReached(standing)) return { outcome: "allowed" };
      this.#dependencies.meter.limitRefusal("send", "reached");
      return { outcome: "reached", status: standing };
    } catch (error) {
      return { outcome: this.#passesUnchecked(error, ownerId, "send") ? "allowed" : "unchecked" };
    }
  }

  /** Never rejects. */
  async admit(call: PaidCall, signal: AbortSignal): Promise<Admission> {
    const { ownerId, place } = call;
    try {
      if (!(await this.#isLimited(ownerId))) return FREELY;
      const micros = call.maxCost();
      // What costs nothing that anybody will know needs no place beside the others.
      if (micros === 0n) return this.#afterLook(await this.standing(ownerId), place) ?? FREELY;
      const asked = { call, micros, deadline: this.#dependencies.clock.now() + WAIT_MS, line: null };
      return call.waits ? await this.#inLine(asked, signal) : await this.#ask(asked, signal);
    } catch (error) {
      if (this.#passesUnchecked(error, ownerId, place)) return FREELY;
      return { type: "refused", failure: LIMIT_UNCHECKED };
    }
  }

  close(): void {
    this.#stopListening();
    for (const { semaphore, wake } of this.#lines.values()) {
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
      // A database that fails is no reason to refuse what nobody has limited.
      if (this.#wasEnabled === false) return false;
      throw error;
    }
  }

  /** Whether that is to be let pass all the same. */
  #passesUnchecked(error: unknown, ownerId: string, place: LimitRefusalSite): boolean {
    const { log, meter, whenUnchecked } = this.#dependencies;
    const isOpen = whenUnchecked === "open";
    log.error({ err: error, ownerId, place, whenUnchecked }, "A usage limit could not be looked at");
    if (!isOpen) meter.limitRefusal(place, "unchecked");
    return isOpen;
  }

  #afterLook(standing: LimitStatus, place: LimitRefusalSite): Admission | null {
    if (!isReached(standing)) return null;
    this.#dependencies.meter.limitRefusal(place, "reached");
    return { type: "refused", failure: limitReachedFailure(standing) };
  }

  async #inLine(asked: Asked, signal: AbortSignal): Promise<Admission> {
    const { ownerId } = asked.call;
    const line = this.#lineOf(ownerId);
    const entering = line.semaphore.acquire();
    const leave = await orStopped(entering, signal);
    if (leave === STOPPED) {
      entering.then((late) => this.#leave(ownerId, line, late)).catch(() => undefined);
      return { type: "stopped" };
    }
    try {
      return await this.#ask({ ...asked, line: leave === null ? null : line }, signal);
    } finally {
      this.#leave(ownerId, line, leave);
    }
  }

  /** Looks until the call may be made, may not, or has waited for too long. */
  async #ask(asked: Asked, signal: AbortSignal): Promise<Admission> {
    const { database, clock } = this.#dependencies;
    const { call, micros, deadline, line } = asked;
    const { ownerId, workerId, place } = call;
    for (;;) {
      if (signal.aborted) return { type: "stopped" };
      // Before the look: what changes during it is not slept through.
      if (line !== null) line.wake = new AbortController();
      const id = randomUUID();
      const lifeMs = workerId === null ? UNLEASED_HOLD_LIFE_MS : HOLD_LIFE_MS;
      const request = { id, ownerId, workerId, micros, lifeMs, now: clock.now() };
      const { isTaken, standing } = await takeHold(database, request);
      if (isTaken) return { type: "admitted", release: () => this.#release(id, ownerId) };
      const refused = this.#afterLook(standing, place);
      if (refused !== null) return refused;
      // Meanwhile there is none.
      if (standing.limitMicros === null) return FREELY;
      if (line === null || clock.now() >= deadline) return this.#busy(standing, place);
      await this.#rest(line, signal);
    }
  }

  #busy({ limitMicros, period }: LimitStatus, place: LimitRefusalSite): Admission {
    this.#dependencies.meter.limitRefusal(place, "busy");
    return { type: "refused", failure: limitBusyFailure(limitMicros ?? 0n, period) };
  }

  /** Until a hold was given back here, limits were changed, or it is time to look what others have done. */
  async #rest({ wake }: Line, signal: AbortSignal): Promise<void> {
    const end = () => wake.abort();
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await sleep(this.#dependencies.clock, LOOK_MS, wake.signal);
    signal.removeEventListener("abort", end);
  }

  async #release(id: string, ownerId: string): Promise<void> {
    const { database, log } = this.#dependencies;
    try {
      await dropHold(database, id);
    } catch (error) {
      log.error({ err: error, ownerId, id }, "What was held for a model call ends only with its time");
    }
    this.#lines.get(ownerId)?.wake.abort();
  }

  #lineOf(ownerId: string): Line {
    const known = this.#lines.get(ownerId);
    if (known) return known;
    const bounds = { maxRunning: 1, maxWaiting: MAX_WAITING, waitMs: WAIT_MS };
    const line = {
      semaphore: new BoundedSemaphore(bounds, this.#dependencies.clock),
      wake: new AbortController(),
    };
    this.#lines.set(ownerId, line);
    return line;
  }

  /** The last one out takes the line away. */
  #leave(ownerId: string, line: Line, leave: (() => void) | null): void {
    leave?.();
    const { running, waiting } = line.semaphore.count();
    if (running + waiting === 0 && this.#lines.get(ownerId) === line) this.#lines.delete(ownerId);
  }
}

type Asked = {
  call: PaidCall;
  micros: bigint;
  /** Milliseconds since the epoch. */
  deadline: number;
  /** In which it is the first; null = it looks once, as it does not wait or has waited for long enough. */
  line: Line | null;
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
