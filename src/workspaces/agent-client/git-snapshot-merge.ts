/** Puts what an agent tells of a chat's repositories together again, into one whole snapshot after another. */
import {
  MAX_DIFF_CHARACTERS,
  MAX_WATCHED_REPOSITORIES,
  type GitWatchMessage,
} from "../../agent/protocol/git.js";
import type { GitRepository, GitSnapshot } from "../../domain/git/git-snapshot.js";

/** Of all diffs of one chat together. */
export const MAX_SNAPSHOT_CHARACTERS = 12 * 1024 * 1024;
const LEFT_OUT = "The diffs of this chat's repositories are too large together; this one is left out.\n";

/** `answers`: the latest refresh that came before the snapshot was made. */
export type Scan = { snapshot: GitSnapshot; answers: number };

/** One connection's messages. Takes no more memory than a snapshot may have, and one diff. */
export class GitFold {
  #repositories = new Map<string, GitRepository>();
  /** Of the diff that is being told. */
  #pieces: { root: string; texts: string[]; characters: number } | undefined;

  /** A scan when the message completes one. Throws when the agent does not keep to the protocol. */
  take(message: GitWatchMessage): Scan | undefined {
    switch (message.type) {
      case "diff":
        this.#addPiece(message);
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

  #addPiece({ root, text }: { root: string; text: string }): void {
    const pieces = this.#pieces?.root === root ? this.#pieces : { root, texts: [], characters: 0 };
    pieces.texts.push(text);
    pieces.characters += text.length;
    if (pieces.characters > MAX_DIFF_CHARACTERS) throw new Error(`The diff of ${root} is too long.`);
    this.#pieces = pieces;
  }

  #addRepository(facts: Omit<GitRepository, "unifiedDiff">): void {
    const { root, branch, remoteOrigin, pushedCommit, isTruncated } = facts;
    const told = this.#pieces?.root === root ? this.#pieces.texts.join("") : "";
    this.#pieces = undefined;
    this.#repositories.delete(root);
    if (this.#repositories.size >= MAX_WATCHED_REPOSITORIES)
      throw new Error("Too many repositories are told.");
    const fits = told.length + this.#characters() <= MAX_SNAPSHOT_CHARACTERS;
    this.#repositories.set(root, {
      ...{ root, branch, remoteOrigin },
      ...(pushedCommit === undefined ? {} : { pushedCommit }),
      unifiedDiff: fits ? told : LEFT_OUT,
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

/** Whether two snapshots show people the same, at whatever time. */
export function showsTheSame(one: GitSnapshot, other: GitSnapshot): boolean {
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
