/** Assembles the messages of an agent's git watch into snapshots of all of a chat's repositories. */
import {
  MAX_DIFF_CHARACTERS,
  MAX_WATCHED_REPOSITORIES,
  type GitWatchMessage,
} from "../../agent/protocol/git.js";
import type { GitRepository, GitSnapshot } from "../../domain/git/git-snapshot.js";

/** Of all diffs of one chat together. */
const MAX_SNAPSHOT_CHARACTERS = 12 * 1024 * 1024;
const LEFT_OUT = "The diffs of this chat's repositories are too large together; this one is left out.\n";

/** `answers`: the latest refresh before the snapshot was made. */
export type Scan = { snapshot: GitSnapshot; answers: number };

/** State of one connection's messages. Memory is bounded by one snapshot and one diff. */
export class GitSnapshotMerger {
  #repositories = new Map<string, GitRepository>();
  /** The diff that is being received. */
  #diff: { root: string; chunks: string[]; characters: number } | undefined;

  /** Returns a scan when the message completes one. Throws when the agent violates the protocol. */
  apply(message: GitWatchMessage): Scan | undefined {
    switch (message.type) {
      case "diff":
        this.#addChunk(message);
        return undefined;
      case "repository":
        this.#addRepository(message);
        return undefined;
      case "removed":
        this.#repositories.delete(message.root);
        return undefined;
      case "scanned":
        return { snapshot: this.#snapshot(message.at), answers: message.answers };
      case "ready":
      case "error":
        return undefined;
    }
  }

  #addChunk({ root, text }: { root: string; text: string }): void {
    const diff = this.#diff?.root === root ? this.#diff : { root, chunks: [], characters: 0 };
    diff.chunks.push(text);
    diff.characters += text.length;
    if (diff.characters > MAX_DIFF_CHARACTERS) throw new Error(`The diff of ${root} is too long.`);
    this.#diff = diff;
  }

  #addRepository(facts: Omit<GitRepository, "unifiedDiff">): void {
    const { root, branch, remoteOrigin, pushedCommit, isTruncated } = facts;
    const diff = this.#diff?.root === root ? this.#diff.chunks.join("") : "";
    this.#diff = undefined;
    this.#repositories.delete(root);
    if (this.#repositories.size >= MAX_WATCHED_REPOSITORIES)
      throw new Error("The agent sends too many repositories.");
    const fits = diff.length + this.#characters() <= MAX_SNAPSHOT_CHARACTERS;
    this.#repositories.set(root, {
      ...{ root, branch, remoteOrigin },
      ...(pushedCommit === undefined ? {} : { pushedCommit }),
      unifiedDiff: fits ? diff : LEFT_OUT,
      isTruncated: isTruncated || !fits,
    });
  }

  #characters(): number {
    let sum = 0;
    for (const { unifiedDiff } of this.#repositories.values()) sum += unifiedDiff.length;
    return sum;
  }

  #snapshot(at: string): GitSnapshot {
    const repositories = [...this.#repositories.values()].sort((a, b) => (a.root < b.root ? -1 : 1));
    return { repositories, scannedAt: Date.parse(at) };
  }
}

/** Whether two snapshots are equal but for their time. */
export function isSameSnapshot(one: GitSnapshot, other: GitSnapshot): boolean {
  return (
    one.repositories.length === other.repositories.length &&
    one.repositories.every((repository, index) => {
      const second = other.repositories[index];
      return second === repository || (second !== undefined && isSame(repository, second));
    })
  );
}

function isSame(one: GitRepository, other: GitRepository): boolean {
  return (
    one.root === other.root &&
    one.branch === other.branch &&
    one.remoteOrigin === other.remoteOrigin &&
    one.isTruncated === other.isTruncated &&
    one.unifiedDiff === other.unifiedDiff
  );
}
