/** Port of git hosts, independent of their software. Failures are values, since hosts fail all the time. */
import type { BranchFacts } from "./branch-facts.js";

const GIT_HOST_KINDS = ["github", "gitlab"] as const;
export type GitHostKind = (typeof GIT_HOST_KINDS)[number];

/** A token for a host. `host` in the form of `readGitHost`. */
export type GitAccount = { host: string; kind: GitHostKind; token: string };

/** A branch of a project; `path` as in `ada/greeter`. `pullRequest`: the number of a known one. */
export type BranchReference = { path: string; branch: string; pullRequest: number | null };

export type GitHostFailure =
  /** `retryAt` in milliseconds since the epoch; null when the host does not say. */
  | { kind: "rate-limited"; retryAt: number | null; message: string }
  /** The host does not know the token, or it was revoked. */
  | { kind: "unauthorized"; message: string }
  /** No such project or branch, or the token may not see it. */
  | { kind: "not-found"; message: string }
  /** The response exceeds its limit. */
  | { kind: "too-large"; message: string }
  /** Everything else: errors of the host, network failures, blocked addresses. */
  | { kind: "failed"; message: string };

export type GitHostAnswer<T> = { ok: true; value: T } | { ok: false; failure: GitHostFailure };

export interface GitHosts {
  /** The software of a host; null when it is unsupported. Unknown hosts are probed. */
  kindOf(host: string): Promise<GitHostAnswer<GitHostKind | null>>;
  /** The login that the token belongs to. */
  loginOf(account: GitAccount): Promise<GitHostAnswer<string>>;
  /** The branch's pull request, or its difference from the default branch. */
  factsOf(account: GitAccount, work: BranchReference): Promise<GitHostAnswer<BranchFacts>>;
  /** The unified diff of the pull request, or of the branch against the default branch. At most `MAX_DIFF_BYTES`. */
  diffOf(account: GitAccount, work: BranchReference): Promise<GitHostAnswer<string>>;
}
