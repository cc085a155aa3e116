/**
 * What one user may have running at this server: so many queries and mutations at one time, through whatever door, and so
 * much CPU. More wait for a while behind the same user's only, then are refused.
 */
import type { GraphQLError } from "graphql";
import type { Clock } from "../../lib/clock.js";
import { RoundRobinScheduler } from "../../lib/concurrency/round-robin-scheduler.js";
import type { Release, SemaphoreCounts } from "../../lib/concurrency/bounded-semaphore.js";
import { KeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.js";
import { CpuBudgets } from "./cpu-budgets.js";
import type { HttpLimits } from "./limits.js";
import { rateLimited } from "./refusals.js";

export type UserWorkLimits = Pick<
  HttpLimits,
  | "maxRunningPerUser"
  | "maxMutationsPerUser"
  | "maxWaitingPerUser"
  | "maxRunningWaitMs"
  | "userCpuMsPerSecond"
  | "userCpuBurstMs"
>;

/** A user's place for one operation. */
export type Place = {
  /** Resolves at the beginning of a turn of the event loop; for what may take long in one go, before it is measured. */
  turn(): Promise<void>;
  /** So many bytes of JSON were read on the user's account. */
  chargeBytes(bytes: number): void;
  /** Runs synchronous work on the user's account. */
  measure<T>(work: () => T): T;
  /** For an operation that turned out to be a mutation: waits in their line too. The reason why it may not run, if any. */
  mutate(): Promise<GraphQLError | undefined>;
  /** The operation runs from now on, until the place is left. */
  run(cost: number): void;
  /** Gives the place back; a second call does nothing. */
  leave(): void;
};

/** What a megabyte of nested JSON took: some 10 ms. */
const READ_MS_PER_BYTE = 1e-5;
/** When it is worth to come back to a line that was full. */
const RETRY_LINE_MS = 1_000;

export class UserWork {
  readonly #operations: KeyedSemaphore;
  readonly #mutations: KeyedSemaphore;
  readonly #turns = new RoundRobinScheduler();
  readonly #budgets: CpuBudgets;

  constructor(
    private readonly limits: UserWorkLimits,
    clock: Clock,
    budgets?: CpuBudgets,
  ) {
    const {
      maxRunningPerUser,
      maxMutationsPerUser,
      maxWaitingPerUser: waiting,
      maxRunningWaitMs: waitMs,
    } = limits;
    this.#operations = new KeyedSemaphore(
      { maxRunning: maxRunningPerUser, maxWaiting: waiting, waitMs },
      clock,
    );
    this.#mutations = new KeyedSemaphore(
      { maxRunning: maxMutationsPerUser, maxWaiting: waiting, waitMs },
      clock,
    );
    this.#budgets = budgets ?? new CpuBudgets(limits, clock);
  }

  /** Operations that have a place, and those that wait for one. */
  count(): SemaphoreCounts {
    return this.#operations.count();
  }

  /** So many bytes of JSON were read on the user's account; for what comes before there is a place. */
  chargeBytes(userId: string, bytes: number): void {
    this.#budgets.charge(userId, bytes * READ_MS_PER_BYTE);
  }

  /** Resolves to a place, or to the reason why there is none. */
  async enter(userId: string): Promise<Place | GraphQLError> {
    const spent = this.#refuseSpent(userId);
    if (spent) return spent;
    const leave = await this.#operations.acquire(userId);
    if (leave === null) return lineIsFull("queries and mutations", this.#operations);
    // What was there may have been taken meanwhile, by those before.
    const spentMeanwhile = this.#refuseSpent(userId);
    if (!spentMeanwhile) return this.#place(userId, leave);
    leave();
    return spentMeanwhile;
  }

  #place(userId: string, leaveOperations: Release): Place {
    const leaves = [leaveOperations];
    let isLeft = false;
    const enter = (leave: Release) => {
      if (isLeft) leave();
      else leaves.push(leave);
    };
    return {
      turn: () => this.#turns.next(userId),
      chargeBytes: (bytes) => this.chargeBytes(userId, bytes),
      measure: (work) => this.#budgets.measure(userId, work),
      mutate: async () => {
        const leave = await this.#mutations.acquire(userId);
        if (leave === null) return lineIsFull("mutations", this.#mutations);
        enter(leave);
        return undefined;
      },
      run: (cost) => {
        if (!isLeft) enter(this.#budgets.run(userId, cost));
      },
      leave() {
        isLeft = true;
        for (const leave of leaves.splice(0)) leave();
      },
    };
  }

  #refuseSpent(userId: string): GraphQLError | undefined {
    const waitMs = this.#budgets.waitMs(userId);
    if (waitMs === null) return undefined;
    const { userCpuMsPerSecond } = this.limits;
    const message = `Your operations take more of this server than the ${userCpuMsPerSecond} ms of CPU in each second that one user may have; wait a little.`;
    return rateLimited(message, waitMs);
  }
}

function lineIsFull(
  what: string,
  { limits: { maxRunning, maxWaiting, waitMs } }: KeyedSemaphore,
): GraphQLError {
  const message = `At most ${maxRunning} ${what} of one user may run at one time, and ${maxWaiting} wait for at most ${waitMs} ms.`;
  return rateLimited(message, RETRY_LINE_MS);
}

/** In an operation's context: its place. A symbol, so that no resolver meets it. */
const PLACE = Symbol("the place of the operation");

/** The same context with the place in it; Apollo copies it shallowly. */
export function withPlace<Context extends object>(context: Context, place: Place): Context {
  return { ...context, [PLACE]: place };
}

/** What `withPlace` has put there. */
export function placeIn(context: object): Place {
  if (PLACE in context) return context[PLACE] as Place;
  throw new Error("An operation came to Apollo without a place");
}
