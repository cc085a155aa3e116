/**
 * What one user may have running at this server: so many queries and mutations at one time, through whatever door, and so
 * much CPU. Whoever asks for more waits a while in line with themselves only, then is refused.
 */
import type { GraphQLError } from "graphql";
import type { Clock } from "../lib/clock.js";
import { FairTurns } from "../lib/fair-turns.js";
import { Turnstile } from "../lib/turnstile.js";
import { CpuBudgets } from "./cpu-budgets.js";
import type { HttpLimits } from "./limits.js";
import { rateLimited } from "./refusals.js";

export type UserWorkLimits = Pick<
  HttpLimits,
  "maxRunningPerUser" | "maxWaitingPerUser" | "maxRunningWaitMs" | "userCpuMsPerSecond" | "userCpuBurstMs"
>;

/** A user's place for one operation. */
export type Place = {
  /** Resolves at the beginning of a turn of the event loop; for what may take long in one go, before it is measured. */
  turn(): Promise<void>;
  /** Runs synchronous work on the user's account. */
  measure<T>(work: () => T): T;
  /** The operation runs from now on, until the place is left. */
  run(cost: number): void;
  /** Gives the place back; a second call does nothing. */
  leave(): void;
};

/** When it is worth to come back to a line that was full. */
const RETRY_LINE_MS = 1_000;

export class UserWork {
  /** Users without operations take no memory. */
  readonly #lines = new Map<string, Turnstile>();
  readonly #turns = new FairTurns();
  readonly #budgets: CpuBudgets;

  constructor(
    private readonly limits: UserWorkLimits,
    private readonly clock: Clock,
    budgets?: CpuBudgets,
  ) {
    this.#budgets = budgets ?? new CpuBudgets(limits, clock);
  }

  /** Operations that have a place, and those that wait for one. */
  count(): { inside: number; waiting: number } {
    const counts = [...this.#lines.values()].map((line) => line.count());
    const sum = (pick: (count: { inside: number; waiting: number }) => number) =>
      counts.reduce((total, count) => total + pick(count), 0);
    return { inside: sum(({ inside }) => inside), waiting: sum(({ waiting }) => waiting) };
  }

  /** Resolves to a place, or to the reason why there is none. */
  async enter(userId: string): Promise<Place | GraphQLError> {
    const { maxRunningPerUser: inside, maxWaitingPerUser: waiting, maxRunningWaitMs: waitMs } = this.limits;
    const spent = this.#refuseSpent(userId);
    if (spent) return spent;
    const line = this.#lines.get(userId) ?? new Turnstile({ inside, waiting, waitMs }, this.clock);
    this.#lines.set(userId, line);
    const leave = await line.enter();
    if (leave === null) {
      const message = `At most ${inside} queries and mutations of one user may run at one time, and ${waiting} wait for at most ${waitMs} ms.`;
      return rateLimited(message, RETRY_LINE_MS);
    }
    const leaveLine = () => {
      leave();
      const { inside: left, waiting: others } = line.count();
      if (left + others === 0 && this.#lines.get(userId) === line) this.#lines.delete(userId);
    };
    // What was there may have been taken meanwhile, by those before.
    const spentMeanwhile = this.#refuseSpent(userId);
    if (!spentMeanwhile) return this.#place(userId, leaveLine);
    leaveLine();
    return spentMeanwhile;
  }

  #place(userId: string, leaveLine: () => void): Place {
    let end = () => {};
    let isLeft = false;
    return {
      turn: () => this.#turns.next(userId),
      measure: (work) => this.#budgets.measure(userId, work),
      run: (cost) => {
        if (!isLeft) end = this.#budgets.run(userId, cost);
      },
      leave() {
        if (isLeft) return;
        isLeft = true;
        end();
        leaveLine();
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
