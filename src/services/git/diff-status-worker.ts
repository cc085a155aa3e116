/**
 * Periodic job that polls git hosts for the status of chats' branches. Due polls are claimed in batches by any replica,
 * and grouped by token for each host. Also resolves the login of each new token once.
 * States: idle → polling → idle …, and from both closed, by `close` alone, which releases unfinished claims.
 */
import { groupByToken, type PollOutcome } from "../../domain/git/diff-status.js";
import { PeriodicJob } from "../../lib/concurrency/periodic-job.js";
import { type ClaimedPoll, claimDuePolls, releasePolls } from "../../store/git/diff-statuses.js";
import {
  claimUnaskedConnections,
  type GitToken,
  rememberLogin,
  stopAsking,
} from "../../store/git/git-connections.js";
import { kindOf, openToken } from "./git-accounts.js";
import { accountOf, pollBranch, type DiffPollDependencies, savePoll } from "./diff-polls.js";

const TICK_MS = 10_000;
/** One run starts no more polls after this; the rest are released. */
const ROUND_MS = 30_000;
/** Polls claimed in one run. */
const BATCH = 50;
/** Groups of one host and owner polled concurrently. */
const MAX_GROUPS = 10;
/** New tokens resolved in one run. */
const MAX_CONNECTIONS = 10;

export class DiffStatusWorker {
  readonly #job: PeriodicJob;

  constructor(private readonly dependencies: DiffPollDependencies) {
    this.#job = new PeriodicJob({
      clock: dependencies.clock,
      intervalMs: TICK_MS,
      run: () => this.#round(),
      onError: (error) => dependencies.log.error({ err: error }, "polling git hosts failed"),
    });
  }

  start(): void {
    this.#job.start({ immediately: false });
  }

  /** Resolves when the current run has ended. Close the hosts' connections first to not wait for their answers. */
  close(): Promise<void> {
    return this.#job.close();
  }

  /** One run; returns the number of claimed polls. Rejects when the database fails. */
  async pollDue(): Promise<number> {
    const polls = await claimDuePolls(this.dependencies.database, BATCH);
    const until = this.dependencies.clock.now() + ROUND_MS;
    await inParallel(groupByToken(polls), MAX_GROUPS, (group) => this.#pollGroup(group, until));
    return polls.length;
  }

  /** One run; returns the number of connections whose login was requested. Rejects when the database fails. */
  async resolveLogins(): Promise<number> {
    const connections = await claimUnaskedConnections(this.dependencies.database, MAX_CONNECTIONS);
    await inParallel(connections, MAX_GROUPS, (connection) => this.#resolveLogin(connection));
    return connections.length;
  }

  async #round(): Promise<void> {
    await this.pollDue();
    if (!this.#job.isClosing) await this.resolveLogins();
  }

  /** Polls for one owner at one origin. Chats on the same branch share one answer. */
  async #pollGroup(group: ClaimedPoll[], until: number): Promise<void> {
    const [first] = group;
    if (!first || this.#job.isClosing) return releasePolls(this.dependencies.database, group);
    const choice = await accountOf(this.dependencies, first);
    const seen = new Map<string, PollOutcome>();
    let rest = group;
    let limited: PollOutcome | null = null;
    while (rest.length > 0 && !this.#job.isClosing && this.dependencies.clock.now() < until) {
      const [poll, ...others] = rest;
      if (!poll) break;
      const key = `${poll.branch} ${poll.facts?.pullRequest?.number ?? ""}`;
      const outcome: PollOutcome =
        limited ?? seen.get(key) ?? (await pollBranch(this.dependencies, choice, poll));
      // An answer missed because of the shutdown is no failure of the host.
      if (this.#job.isClosing && outcome.kind === "failed") break;
      seen.set(key, outcome);
      if (outcome.kind === "failed" && outcome.failure.kind === "rate-limited") limited = outcome;
      rest = others;
      await this.#settle(poll, outcome);
    }
    if (rest.length > 0) await releasePolls(this.dependencies.database, rest);
  }

  /** A chat that cannot be saved does not stop the others. */
  async #settle(poll: ClaimedPoll, outcome: PollOutcome): Promise<void> {
    const { log } = this.dependencies;
    const { chatId } = poll;
    if (outcome.kind === "failed")
      log.info({ chatId, failure: outcome.failure }, "git host did not return a branch's status");
    try {
      await savePoll(this.dependencies, poll, outcome);
    } catch (error) {
      log.error({ err: error, chatId }, "diff status was not saved");
    }
  }

  async #resolveLogin(connection: GitToken): Promise<void> {
    const { database, hosts, log } = this.dependencies;
    const { id, host } = connection;
    const token = openToken(this.dependencies, connection);
    if (token === null || this.#job.isClosing) return;
    const kind = await kindOf(this.dependencies, connection);
    if (kind.ok && kind.value === null) return stopAsking(database, id);
    const answer = kind.ok && kind.value ? await hosts.loginOf({ host, kind: kind.value, token }) : kind;
    if (answer.ok) return answer.value === null ? undefined : rememberLogin(database, id, answer.value);
    if (this.#job.isClosing) return;
    log.info({ connectionId: id, host, failure: answer.failure }, "git host did not return a token's login");
    // The answer for this token will not change.
    if (answer.failure.kind === "unauthorized" || answer.failure.kind === "not-found")
      await stopAsking(database, id);
  }
}

/** Processes all with at most `limit` at a time; rejects when any rejects, after the others have ended. */
async function inParallel<T>(
  all: readonly T[],
  limit: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const waiting = all.values();
  const runners = Array.from({ length: Math.min(limit, all.length) }, async () => {
    for (const one of waiting) await work(one);
  });
  const ended = await Promise.allSettled(runners);
  for (const runner of ended) if (runner.status === "rejected") throw runner.reason;
}
