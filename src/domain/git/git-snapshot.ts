/** What differs from the last commit in the repositories that a chat works in. */

export type GitRepository = {
  /** Absolute path of its working tree, in the workspace. */
  root: string;
  /** Null when no branch is checked out. */
  branch: string | null;
  remoteOrigin: string | null;
  /** The newest commit, when it is where the branch is pushed to, too. */
  pushedCommit?: string;
  unifiedDiff: string;
  /** The diff is too long; `unifiedDiff` says so instead. */
  isTruncated: boolean;
};

/**
 * Those of `after` whose branch has come to be at its newest commit where it is pushed to: what was pushed, or fetched,
 * between the two. What was not known before is not one of them.
 */
export function pushedBetween(before: GitSnapshot, after: GitSnapshot): GitRepository[] {
  const known = new Map(before.repositories.map((repository) => [repository.root, repository]));
  return after.repositories.filter(({ root, branch, remoteOrigin, pushedCommit }) => {
    const earlier = known.get(root);
    const isSame = earlier?.branch === branch && earlier.remoteOrigin === remoteOrigin;
    return isSame && pushedCommit !== undefined && pushedCommit !== earlier.pushedCommit;
  });
}

/** Repositories are sorted by root. `scannedAt` in milliseconds since the epoch. */
export type GitSnapshot = { repositories: GitRepository[]; scannedAt: number };

export type WatchedChat = { chatId: string; workspaceId: string | null };

/** The watch over repositories, as the API sees it. Rights are the caller's to check. */
export interface GitSnapshotsSource {
  /**
   * The newest snapshot, then each that differs from the one before; a slow reader gets only the newest. It goes on
   * when the workspace goes away and comes back. Without a workspace: one empty snapshot. Null: too many are watched.
   */
  subscribe(chat: WatchedChat): AsyncIterableIterator<GitSnapshot> | null;
  /** The latest snapshot; null when the chat has no workspace, or the workspace cannot tell soon. */
  read(chat: WatchedChat): Promise<GitSnapshot | null>;
  /** One made now; null as for `read`. */
  refresh(chat: WatchedChat): Promise<GitSnapshot | null>;
}
