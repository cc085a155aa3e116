/** Status of the branches that chats work on, as reported by git hosts. Pure. */

const PULL_REQUEST_STATES = ["open", "closed", "merged"] as const;
export type PullRequestState = (typeof PULL_REQUEST_STATES)[number];

/** A pull request or merge request. `number` is the one that users see. */
export type PullRequestFacts = {
  number: number;
  title: string;
  state: PullRequestState;
  isDraft: boolean;
  /** Whether some reviewer's latest decisive review requests changes. */
  hasChangesRequested: boolean;
  authorLogin: string | null;
};

/** A host's data on a branch; the numbers are of its pull request, else against the default branch. */
export type BranchFacts = {
  /** The page of the pull request, else of the comparison; null when the host does not have the branch. */
  url: string | null;
  additions: number;
  deletions: number;
  changedFiles: number;
  headBranch: string | null;
  baseBranch: string | null;
  pullRequest: PullRequestFacts | null;
};

/** The diff status as users see it. Before the first answer only the branch is known, and the status is stale. */
export type DiffStatusView = BranchFacts & { refreshedAt: Date | null; isStale: boolean };

/** The diff of a chat's branch. Where it is too large, `unified` is one line that says so. */
export type BranchDiff = {
  remoteOrigin: string | null;
  branch: string | null;
  unified: string;
  isTruncated: boolean;
};

/** Larger diffs are not shown. */
export const MAX_DIFF_BYTES = 4 * 1024 * 1024;

/** The facts of a branch that the host does not have yet. */
export function unknownBranch(branch: string): BranchFacts {
  const none = { additions: 0, deletions: 0, changedFiles: 0 };
  return { url: null, ...none, headBranch: branch, baseBranch: null, pullRequest: null };
}

/** Whether users see no difference between the two. */
export function haveSameFacts(a: BranchFacts | null, b: BranchFacts | null): boolean {
  if (a === null || b === null) return a === b;
  const { pullRequest: pullA, ...restA } = a;
  const { pullRequest: pullB, ...restB } = b;
  if (!hasSameFields(restA, restB)) return false;
  return pullA === null || pullB === null ? pullA === pullB : hasSameFields(pullA, pullB);
}

function hasSameFields<T extends object>(a: T, b: T): boolean {
  const fields = new Map<string, unknown>(Object.entries(b));
  return Object.entries(a).every(([name, value]) => fields.get(name) === value);
}

/** A review with GitHub's name of its state. */
type Review = { reviewer: string; state: string };

const DECISIVE = new Set(["APPROVED", "CHANGES_REQUESTED", "DISMISSED"]);

/** Each reviewer's latest decisive review counts; comments are ignored. `reviews` are oldest first. */
export function hasChangesRequested(reviews: readonly Review[]): boolean {
  const last = new Map<string, string>();
  for (const { reviewer, state } of reviews) if (DECISIVE.has(state)) last.set(reviewer, state);
  return [...last.values()].includes("CHANGES_REQUESTED");
}
