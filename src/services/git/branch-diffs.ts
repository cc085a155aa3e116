/** On-demand reads of chats' branches from their git hosts: a refreshed status, and the diff. */
import { type BranchDiff, MAX_DIFF_BYTES } from "../../domain/git/branch-facts.js";
import type { BranchDiffs, DiffRefresh } from "../../domain/git/branch-diffs.js";
import type { PollOutcome } from "../../domain/git/diff-status.js";
import { claimPoll, findBranchWork, releasePolls } from "../../store/git/diff-statuses.js";
import { chooseAccount } from "./git-accounts.js";
import { accountOf, pollBranch, type DiffPollDependencies, savePoll } from "./diff-polls.js";

/** Concurrent diff reads on one replica, of up to 4 MiB each; further ones return null. */
const MAX_READING = 20;
/** The limit is logged at most this often. */
const WARNING_INTERVAL_MS = 10_000;

export class HostedBranchDiffs implements BranchDiffs {
  readonly #refreshing = new Map<string, Promise<DiffRefresh>>();
  #reading = 0;
  #isClosed = false;
  #warnedAt = -Infinity;

  constructor(private readonly dependencies: DiffPollDependencies) {}

  /** Concurrent callers share one request. */
  refresh(chatId: string): Promise<DiffRefresh> {
    const known = this.#refreshing.get(chatId);
    if (known) return known;
    const request = this.#refresh(chatId).finally(() => this.#refreshing.delete(chatId));
    this.#refreshing.set(chatId, request);
    return request;
  }

  async read(chatId: string): Promise<BranchDiff | null> {
    if (this.#reading >= MAX_READING) return this.#refuse();
    this.#reading += 1;
    try {
      return await this.#read(chatId);
    } finally {
      this.#reading -= 1;
    }
  }

  /** From now on failures are not recorded as the host's. */
  stopAnswering(): void {
    this.#isClosed = true;
  }

  async #refresh(chatId: string): Promise<DiffRefresh> {
    const work = await findBranchWork(this.dependencies.database, chatId);
    if (work?.limitedUntil) return { outcome: "failed", message: rateLimitedUntil(work.limitedUntil) };
    const poll = await claimPoll(this.dependencies.database, chatId);
    if (!poll) return { outcome: "no-branch" };
    const choice = await accountOf(this.dependencies, poll);
    const outcome = await pollBranch(this.dependencies, choice, poll);
    if (this.#isClosed && outcome.kind === "failed") await releasePolls(this.dependencies.database, [poll]);
    else await savePoll(this.dependencies, poll, outcome);
    if (choice.kind === "no-token") return { outcome: "no-token", host: choice.host };
    return refreshOf(outcome);
  }

  async #read(chatId: string): Promise<BranchDiff | null> {
    const work = await findBranchWork(this.dependencies.database, chatId);
    if (work === null || work.limitedUntil !== null) return null;
    const choice = await chooseAccount(this.dependencies, work);
    if (choice.kind !== "account") return null;
    const { branch, remoteOrigin, facts } = work;
    const pullRequest = facts?.pullRequest?.number ?? null;
    const diffRequest = { path: choice.path, branch, pullRequest };
    const answer = await this.dependencies.hosts.diffOf(choice.account, diffRequest);
    if (answer.ok) return { remoteOrigin, branch, unified: answer.value, isTruncated: false };
    const { failure } = answer;
    if (failure.kind === "too-large") return { remoteOrigin, branch, unified: TOO_LARGE, isTruncated: true };
    this.dependencies.log.info({ chatId, failure }, "git host did not return a diff");
    return null;
  }

  #refuse(): null {
    const now = this.dependencies.clock.now();
    if (now - this.#warnedAt >= WARNING_INTERVAL_MS) {
      this.#warnedAt = now;
      this.dependencies.log.warn({ limit: MAX_READING }, "too many concurrent diff reads; refusing more");
    }
    return null;
  }
}

const TOO_LARGE = `The diff is larger than ${MAX_DIFF_BYTES / 1024 / 1024} MiB, or than the host shows.\n`;

function rateLimitedUntil(time: Date): string {
  return `The host's rate limit is reached; the next request is made after ${time.toISOString()}.`;
}

function refreshOf(outcome: PollOutcome): DiffRefresh {
  switch (outcome.kind) {
    case "seen":
      return { outcome: "refreshed" };
    case "no-token":
    case "no-host":
      return { outcome: "no-host" };
    case "failed":
      return { outcome: "failed", message: outcome.failure.message };
  }
}
