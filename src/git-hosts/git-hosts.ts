/** All kinds of git hosts as one; hosts of one's own are asked which they are. */
import { setMaxListeners } from "node:events";
import { MAX_DIFF_BYTES, type BranchFacts } from "../domain/git/branch-facts.js";
import type { GitAccount, GitHostAnswer, GitHostKind, GitHosts, GitWork } from "../domain/git/git-hosts.js";
import { knownKindOf, siteOf } from "../domain/git/git-origin.js";
import { failureOfError, failureOfStatus, refused } from "./failure.js";
import { GitHub } from "./github.js";
import { GitLab } from "./gitlab.js";
import { type RequestParts, wholeAnswers } from "./requests.js";

export class RemoteGitHosts implements GitHosts {
  readonly #closing = new AbortController();
  readonly #parts: RequestParts;

  constructor(parts: RequestParts) {
    const { signal } = this.#closing;
    setMaxListeners(0, signal);
    this.#parts = { ...parts, fetch: (url, init) => parts.fetch(url, { ...init, signal }) };
  }

  /** Whoever waits for an answer gets a failure, now or later. */
  close(): void {
    this.#closing.abort(new Error("The server is shutting down."));
  }

  async kindOf(host: string): Promise<GitHostAnswer<GitHostKind | null>> {
    const known = knownKindOf(host);
    if (known) return { ok: true, value: known };
    try {
      return await this.#probe(host);
    } catch (error) {
      return refused(failureOfError(error));
    }
  }

  loginOf(account: GitAccount): Promise<GitHostAnswer<string>> {
    return this.#clientOf(account).loginOf();
  }

  factsOf(account: GitAccount, work: GitWork): Promise<GitHostAnswer<BranchFacts>> {
    return this.#clientOf(account).factsOf(work);
  }

  async diffOf(account: GitAccount, work: GitWork): Promise<GitHostAnswer<string>> {
    const answer = await this.#clientOf(account).diffOf(work);
    if (!answer.ok || Buffer.byteLength(answer.value) <= MAX_DIFF_BYTES) return answer;
    return refused({ kind: "too-large", message: `The diff is longer than ${MAX_DIFF_BYTES} bytes.` });
  }

  #clientOf(account: GitAccount): GitHub | GitLab {
    return account.kind === "github" ? new GitHub(account, this.#parts) : new GitLab(account, this.#parts);
  }

  /**
   * By what each says of itself to anybody, with a token or without: the token is not shown before it is known who asks
   * for it.
   */
  async #probe(host: string): Promise<GitHostAnswer<GitHostKind | null>> {
    const ask = wholeAnswers(this.#parts.fetch);
    const headers = { accept: "application/json", "user-agent": this.#parts.userAgent };
    const gitlab = await ask(`${siteOf(host)}/api/v4/version`, { headers });
    // Every answer of GitLab's API has it, also the refusal of who shows no token.
    if (gitlab.headers.has("x-gitlab-meta")) return { ok: true, value: "gitlab" };
    const github = await ask(`${siteOf(host)}/api/v3/meta`, { headers });
    const isGitHub = ["x-github-enterprise-version", "x-github-request-id", "x-github-media-type"];
    if (isGitHub.some((name) => github.headers.has(name))) return { ok: true, value: "github" };
    if (github.status < 500 && github.status !== 429) return { ok: true, value: null };
    const refusal = {
      status: github.status,
      header: (name: string) => github.headers.get(name),
      words: github.statusText,
    };
    return refused(failureOfStatus(refusal, this.#parts.now()));
  }
}
