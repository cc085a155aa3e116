/**
 * Per-user admission of queries and mutations: bounds on concurrency, over all transports of this server, and on CPU.
 * Operations over the bound wait for a while, behind operations of the same user only, and are then refused.
 */
import type { GraphQLError } from "graphql";
import type { Clock } from "../../lib/clock.js";
import { RoundRobinScheduler } from "../../lib/concurrency/round-robin-scheduler.js";
import type { Release, SemaphoreCounts } from "../../lib/concurrency/bounded-semaphore.js";
import { KeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.js";
import { CpuBudgets } from "./cpu-budgets.js";
import type { HttpLimits } from "./limits.js";
import { rateLimited } from "./refusals.js";

export type UserAdmissionLimits = Pick<
  HttpLimits,
  | "maxRunningPerUser"
  | "maxMutationsPerUser"
  | "maxWaitingPerUser"
  | "maxRunningWaitMs"
  | "userCpuMsPerSecond"
  | "userCpuBurstMs"
>;

/** Permission to run one operation. */
export type WorkPermit = {
  /** Resolves at the start of a turn of the event loop; await it before long synchronous work. */
  turn(): Promise<void>;
  /** Charges the user for parsing so many bytes of JSON. */
  chargeBytes(bytes: number): void;
  /** Runs synchronous work and charges its CPU to the user. */
  measure<T>(work: () => T): T;
  /** Waits for the additional permission of a mutation; resolves to an error when it is refused. */
  acquireMutation(): Promise<GraphQLError | undefined>;
  /** Starts charging CPU for an operation of this cost, until the release. */
  start(cost: number): void;
  /** Returns the permit; a second call has no effect. */
  release(): void;
};

/** Measured: a megabyte of nested JSON takes some 10 ms. */
const READ_MS_PER_BYTE = 1e-5;
/** Suggested retry delay when the queue is full. */
const RETRY_QUEUE_MS = 1_000;

export class UserAdmission {
  readonly #operations: KeyedSemaphore;
  readonly #mutations: KeyedSemaphore;
  readonly #turns = new RoundRobinScheduler();
  readonly #budgets: CpuBudgets;

  constructor(
    private readonly limits: UserAdmissionLimits,
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

  /** Running and waiting operations. */
  count(): SemaphoreCounts {
    return this.#operations.count();
  }

  /** Charges the user for parsing so many bytes of JSON; for bytes read before there is a permit. */
  chargeBytes(userId: string, bytes: number): void {
    this.#budgets.charge(userId, bytes * READ_MS_PER_BYTE);
  }

  /** Resolves to a permit, or to the error when none can be had. */
  async acquire(userId: string): Promise<WorkPermit | GraphQLError> {
    const spent = this.#refuseSpent(userId);
    if (spent) return spent;
    const release = await this.#operations.acquire(userId);
    if (release === null) return queueIsFull("queries and mutations", this.#operations);
    // Earlier operations may have spent the budget meanwhile.
    const spentMeanwhile = this.#refuseSpent(userId);
    if (!spentMeanwhile) return this.#permit(userId, release);
    release();
    return spentMeanwhile;
  }

  #permit(userId: string, releaseOperation: Release): WorkPermit {
    const releases = [releaseOperation];
    let isReleased = false;
    const add = (release: Release) => {
      if (isReleased) release();
      else releases.push(release);
    };
    return {
      turn: () => this.#turns.next(userId),
      chargeBytes: (bytes) => this.chargeBytes(userId, bytes),
      measure: (work) => this.#budgets.measure(userId, work),
      acquireMutation: async () => {
        const release = await this.#mutations.acquire(userId);
        if (release === null) return queueIsFull("mutations", this.#mutations);
        add(release);
        return undefined;
      },
      start: (cost) => {
        if (!isReleased) add(this.#budgets.run(userId, cost));
      },
      release() {
        isReleased = true;
        for (const release of releases.splice(0)) release();
      },
    };
  }

  #refuseSpent(userId: string): GraphQLError | undefined {
    const waitMs = this.#budgets.waitMs(userId);
    if (waitMs === null) return undefined;
    const { userCpuMsPerSecond } = this.limits;
    const message = `Your operations use more than the ${userCpuMsPerSecond} ms of CPU per second that one user may have on this server; try again later.`;
    return rateLimited(message, waitMs);
  }
}

function queueIsFull(
  what: string,
  { limits: { maxRunning, maxWaiting, waitMs } }: KeyedSemaphore,
): GraphQLError {
  const message = `At most ${maxRunning} ${what} of one user may run at the same time, and ${maxWaiting} wait for at most ${waitMs} ms.`;
  return rateLimited(message, RETRY_QUEUE_MS);
}

/** Key of the permit in an operation's context. A symbol, so that no resolver reads it. */
const PERMIT = Symbol("permit of the operation");

/** Adds the permit to a context; Apollo copies the context shallowly. */
export function withPermit<Context extends object>(context: Context, permit: WorkPermit): Context {
  return { ...context, [PERMIT]: permit };
}

/** The permit that `withPermit` added. */
export function permitIn(context: object): WorkPermit {
  if (PERMIT in context) return context[PERMIT] as WorkPermit;
  throw new Error("operation without a permit");
}
