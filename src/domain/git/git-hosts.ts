/** What Parley asks git hosts, whatever software they run. The answers are values: hosts fail all the time. */
import type { BranchFacts } from "./branch-facts.js";

export const GIT_HOST_KINDS = ["github", "gitlab"] as const;
export type GitHostKind = (typeof GIT_HOST_KINDS)[number];

/** A token at a host. `host` as `readGitHost` writes it. */
export type GitAccount = { host: string; kind: GitHostKind; token: string };

/** A branch of a project; `path` as in `ada/greeter`. `pullRequest`: the number of the one that is known, if any. */
export type BranchReference = { path: string; branch: string; pullRequest: number | null };

export type GitHostFailure =
  /** `retryAt` in milliseconds since the epoch; null when the host does not say. */
  | { kind: "rate-limited"; retryAt: number | null; message: string }
  /** The token is unknown there, or was taken back. */
  | { kind: "unauthorized"; message: string }
  /** No such project or branch, or none that this token may see. */
  | { kind: "not-found"; message: string }
  /** The answer is longer than it may be. */
  | { kind: "too-large"; message: string }
  /** Everything else: errors of the host, a broken network, an address that may not be reached. */
  | { kind: "failed"; message: string };

export type GitHostAnswer<T> = { ok: true; value: T } | { ok: false; failure: GitHostFailure };

export interface GitHosts {
  /** What software a host runs; null when it is neither. Unknown hosts are asked. */
  kindOf(host: string): Promise<GitHostAnswer<GitHostKind | null>>;
  /** Who the token is there. */
  loginOf(account: GitAccount): Promise<GitHostAnswer<string>>;
  /** How the branch stands: its pull request, or how it differs from the default branch. */
  factsOf(account: GitAccount, work: BranchReference): Promise<GitHostAnswer<BranchFacts>>;
  /** The unified diff of the pull request, or of the branch against the default branch. At most `MAX_DIFF_BYTES`. */
  diffOf(account: GitAccount, work: BranchReference): Promise<GitHostAnswer<string>>;
}
