/**
 * Keeps what is known of chats' branches fresh: looks that are due are claimed in batches, whichever replica comes first,
 * and hosts are asked for all that one token may see together. It also asks hosts once who a new token is.
 * States: idle → looking → idle …, and from both closed, by `close` alone; what was claimed and not seen by then is given
 * back.
 */
import { groupByToken, type PollOutcome } from "../../domain/git/diff-status.js";
import { PeriodicJob } from "../../lib/concurrency/periodic-job.js";
import { type ClaimedLook, claimDueLooks, releaseLooks } from "../../store/git/diff-statuses.js";
import {
  claimUnaskedConnections,
  type GitToken,
  rememberLogin,
  stopAsking,
} from "../../store/git/git-connections.js";
import { kindOf, openToken } from "./git-accounts.js";
import { accountOf, lookAt, type DiffPollDependencies, settleLook } from "./diff-polls.js";

const TICK_MS = 10_000;
/** One round begins no more looks after this; those that are left are given back. */
const ROUND_MS = 30_000;
/** Looks claimed in one round. */
const BATCH = 50;
/** Hosts and owners that are asked for at the same time. */
const MAX_GROUPS = 10;
/** New tokens asked about in one round. */
const MAX_CONNECTIONS = 10;

export class DiffStatusWorker {
  readonly #job: PeriodicJob;

  constructor(private readonly dependencies: DiffPollDependencies) {
    this.#job = new PeriodicJob({
      clock: dependencies.clock,
      intervalMs: TICK_MS,
      run: () => this.#round(),
      onError: (error) => dependencies.log.error({ err: error }, "Looking at chats' branches failed"),
    });
  }

  start(): void {
    this.#job.start({ immediately: false });
  }

  /** Resolves when nothing is being looked at any more. Hosts' answers are not waited for if their line is cut first. */
  close(): Promise<void> {
    return this.#job.close();
  }

  /** One round; how many looks were claimed. Rejects when the database does. */
  async lookAtDue(): Promise<number> {
    const looks = await claimDueLooks(this.dependencies.database, BATCH);
    const until = this.dependencies.clock.now() + ROUND_MS;
    await inParallel(groupByToken(looks), MAX_GROUPS, (group) => this.#lookAtGroup(group, until));
    return looks.length;
  }

  /** One round; how many connections were asked about. Rejects when the database does. */
  async askLogins(): Promise<number> {
    const connections = await claimUnaskedConnections(this.dependencies.database, MAX_CONNECTIONS);
    await inParallel(connections, MAX_GROUPS, (connection) => this.#askLogin(connection));
    return connections.length;
  }

  async #round(): Promise<void> {
    await this.lookAtDue();
    if (!this.#job.isClosing) await this.askLogins();
  }

  /** All of one owner at one origin. Those that work on the same branch share what is seen. */
  async #lookAtGroup(group: ClaimedLook[], until: number): Promise<void> {
    const [first] = group;
    if (!first || this.#job.isClosing) return releaseLooks(this.dependencies.database, group);
    const choice = await accountOf(this.dependencies, first);
    const seen = new Map<string, PollOutcome>();
    let rest = group;
    let limited: PollOutcome | null = null;
    while (rest.length > 0 && !this.#job.isClosing && this.dependencies.clock.now() < until) {
      const [look, ...others] = rest;
      if (!look) break;
      const key = `${look.branch} ${look.facts?.pullRequest?.number ?? ""}`;
      const outcome: PollOutcome =
        limited ?? seen.get(key) ?? (await lookAt(this.dependencies, choice, look));
      // What a closing server did not hear is no failure of the host.
      if (this.#job.isClosing && outcome.kind === "failed") break;
      seen.set(key, outcome);
      if (outcome.kind === "failed" && outcome.failure.kind === "rate-limited") limited = outcome;
      rest = others;
      await this.#settle(look, outcome);
    }
    if (rest.length > 0) await releaseLooks(this.dependencies.database, rest);
  }

  /** One chat that cannot be saved must not keep the others. */
  async #settle(look: ClaimedLook, outcome: PollOutcome): Promise<void> {
    const { log } = this.dependencies;
    const { chatId } = look;
    if (outcome.kind === "failed")
      log.info({ chatId, failure: outcome.failure }, "A git host did not tell how a chat's branch stands");
    try {
      await settleLook(this.dependencies, look, outcome);
    } catch (error) {
      log.error({ err: error, chatId }, "How a chat's branch stands was not saved");
    }
  }

  async #askLogin(connection: GitToken): Promise<void> {
    const { database, hosts, log } = this.dependencies;
    const { id, host } = connection;
    const token = openToken(this.dependencies, connection);
    if (token === null || this.#job.isClosing) return;
    const kind = await kindOf(this.dependencies, connection);
    if (kind.ok && kind.value === null) return stopAsking(database, id);
    const answer = kind.ok && kind.value ? await hosts.loginOf({ host, kind: kind.value, token }) : kind;
    if (answer.ok) return answer.value === null ? undefined : rememberLogin(database, id, answer.value);
    if (this.#job.isClosing) return;
    log.info({ connectionId: id, host, failure: answer.failure }, "A git host did not tell who a token is");
    // It will not say something else of this token.
    if (answer.failure.kind === "unauthorized" || answer.failure.kind === "not-found")
      await stopAsking(database, id);
  }
}

/** Works on all, at most `limit` at a time; rejects when any work does, after the others have ended. */
async function inParallel<T>(
  all: readonly T[],
  limit: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const waiting = all.values();
  const lanes = Array.from({ length: Math.min(limit, all.length) }, async () => {
    for (const one of waiting) await work(one);
  });
  const ended = await Promise.allSettled(lanes);
  for (const lane of ended) if (lane.status === "rejected") throw lane.reason;
}
