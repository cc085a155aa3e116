/** What people ask of chats' branches themselves: how one stands right now, and its diff. */
import { type BranchDiff, MAX_DIFF_BYTES } from "../../domain/git/branch-facts.js";
import type { BranchDiffs, DiffRefresh } from "../../domain/git/diff-limits.js";
import type { PollOutcome } from "../../domain/git/diff-status.js";
import { claimLook, findBranchWork, releaseLooks } from "../../store/git/diff-statuses.js";
import { chooseAccount } from "./git-accounts.js";
import { accountOf, lookAt, type DiffPollDependencies, settleLook } from "./diff-polls.js";

/** Diffs that are read at the same time on one replica, of up to 4 MiB each; beyond them a diff cannot be had now. */
const MAX_READING = 20;
/** A full replica is logged at most this often. */
const WARNING_INTERVAL_MS = 10_000;

export class HostedBranchDiffs implements BranchDiffs {
  readonly #refreshing = new Map<string, Promise<DiffRefresh>>();
  #reading = 0;
  #isClosed = false;
  #warnedAt = -Infinity;

  constructor(private readonly dependencies: DiffPollDependencies) {}

  /** Who asks while somebody else's question is under way gets the answer to that one. */
  refresh(chatId: string): Promise<DiffRefresh> {
    const known = this.#refreshing.get(chatId);
    if (known) return known;
    const asked = this.#refresh(chatId).finally(() => this.#refreshing.delete(chatId));
    this.#refreshing.set(chatId, asked);
    return asked;
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

  /** What hosts do not answer from now on is no failure of theirs. */
  stopAnswering(): void {
    this.#isClosed = true;
  }

  async #refresh(chatId: string): Promise<DiffRefresh> {
    const work = await findBranchWork(this.dependencies.database, chatId);
    if (work?.limitedUntil) return { outcome: "failed", message: leftAloneUntil(work.limitedUntil) };
    const look = await claimLook(this.dependencies.database, chatId);
    if (!look) return { outcome: "no-branch" };
    const choice = await accountOf(this.dependencies, look);
    const outcome = await lookAt(this.dependencies, choice, look);
    if (this.#isClosed && outcome.kind === "failed") await releaseLooks(this.dependencies.database, [look]);
    else await settleLook(this.dependencies, look, outcome);
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
    const wanted = { path: choice.path, branch, pullRequest };
    const answer = await this.dependencies.hosts.diffOf(choice.account, wanted);
    if (answer.ok) return { remoteOrigin, branch, unified: answer.value, isTruncated: false };
    const { failure } = answer;
    if (failure.kind === "too-large") return { remoteOrigin, branch, unified: TOO_LARGE, isTruncated: true };
    this.dependencies.log.info({ chatId, failure }, "A git host did not give a chat's diff");
    return null;
  }

  #refuse(): null {
    const now = this.dependencies.clock.now();
    if (now - this.#warnedAt >= WARNING_INTERVAL_MS) {
      this.#warnedAt = now;
      this.dependencies.log.warn({ limit: MAX_READING }, "Too many diffs are read; no more");
    }
    return null;
  }
}

const TOO_LARGE = `The diff is larger than ${MAX_DIFF_BYTES / 1024 / 1024} MiB, or than the host shows.\n`;

function leftAloneUntil(time: Date): string {
  return `The host has been asked too often; it is left alone until ${time.toISOString()}.`;
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
