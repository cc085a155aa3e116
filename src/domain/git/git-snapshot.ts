/** Git snapshots: uncommitted changes in the repositories that a chat works in. */

export type GitRepository = {
  /** Absolute path of its working tree, in the workspace. */
  root: string;
  /** Null when no branch is checked out. */
  branch: string | null;
  remoteOrigin: string | null;
  /** The newest commit, where the branch's remote has it too. */
  pushedCommit?: string;
  unifiedDiff: string;
  /** The diff is too long; `unifiedDiff` only says so. */
  isTruncated: boolean;
};

/**
 * The repositories of `after` whose remote branch reached their newest commit between the two snapshots, by a push or a
 * fetch. Repositories that `before` does not know are not among them.
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

/** Port of the repository watcher. The caller checks permissions. */
export interface GitSnapshotsSource {
  /**
   * The newest snapshot, then each that differs from the one before; a slow reader gets only the newest. The stream
   * survives restarts of the workspace. Without a workspace: one empty snapshot. Null: too many chats are watched.
   */
  subscribe(chat: WatchedChat): AsyncIterableIterator<GitSnapshot> | null;
  /** The latest snapshot; null when the chat has no workspace, or it does not answer soon. */
  read(chat: WatchedChat): Promise<GitSnapshot | null>;
  /** A new snapshot; null as for `read`. */
  refresh(chat: WatchedChat): Promise<GitSnapshot | null>;
}
