/** What is known of the branches that chats work on, as git hosts tell it. Pure. */

export const PULL_REQUEST_STATES = ["open", "closed", "merged"] as const;
export type PullRequestState = (typeof PULL_REQUEST_STATES)[number];

/** A pull request, or merge request. `number` is what people call it by. */
export type PullRequestFacts = {
  number: number;
  title: string;
  state: PullRequestState;
  isDraft: boolean;
  /** A reviewer's last word is that something must change. */
  hasChangesRequested: boolean;
  authorLogin: string | null;
};

/** What a host says of a branch; numbers are of its pull request, else against the default branch. */
export type BranchFacts = {
  /** The page of the pull request, else of the comparison; null when the branch is not there. */
  url: string | null;
  additions: number;
  deletions: number;
  changedFiles: number;
  headBranch: string | null;
  baseBranch: string | null;
  pullRequest: PullRequestFacts | null;
};

/** What people are shown. Before the first answer only the branch is known, and it is stale. */
export type DiffStatusView = BranchFacts & { refreshedAt: Date | null; isStale: boolean };

/** The diff of a chat's branch. `unified` says so in one line where it is too large. */
export type BranchDiff = {
  remoteOrigin: string | null;
  branch: string | null;
  unified: string;
  isTruncated: boolean;
};

/** A larger diff is not shown. */
export const MAX_DIFF_BYTES = 4 * 1024 * 1024;

/** A branch that is not at the host yet. */
export function unknownBranch(branch: string): BranchFacts {
  const none = { additions: 0, deletions: 0, changedFiles: 0 };
  return { url: null, ...none, headBranch: branch, baseBranch: null, pullRequest: null };
}

/** Whether people are shown the same of both. */
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

/** One review, in the words of GitHub. */
export type Review = { reviewer: string; state: string };

const DECISIVE = new Set(["APPROVED", "CHANGES_REQUESTED", "DISMISSED"]);

/** Of reviews in the order in which they were given, each reviewer's last decisive one counts; comments decide nothing. */
export function hasChangesRequested(reviews: readonly Review[]): boolean {
  const last = new Map<string, string>();
  for (const { reviewer, state } of reviews) if (DECISIVE.has(state)) last.set(reviewer, state);
  return [...last.values()].includes("CHANGES_REQUESTED");
}
