/** Client of all git hosts; the kind of a self-hosted one is probed. */
import { setMaxListeners } from "node:events";
import { MAX_DIFF_BYTES, type BranchFacts } from "../domain/git/branch-facts.js";
import type {
  GitAccount,
  GitHostAnswer,
  GitHostKind,
  GitHosts,
  BranchReference,
} from "../domain/git/git-hosts.js";
import { knownKindOf, siteOf } from "../domain/git/git-origin.js";
import { failureOfError, failureOfStatus, refused } from "./failure.js";
import { GitHub } from "./github.js";
import { GitLab } from "./gitlab.js";
import { type RequestDependencies, wholeAnswers } from "./requests.js";

export class RemoteGitHosts implements GitHosts {
  readonly #closing = new AbortController();
  readonly #parts: RequestDependencies;

  constructor(parts: RequestDependencies) {
    const { signal } = this.#closing;
    setMaxListeners(0, signal);
    this.#parts = { ...parts, fetch: (url, init) => parts.fetch(url, { ...init, signal }) };
  }

  /** Pending and later requests fail. */
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

  factsOf(account: GitAccount, work: BranchReference): Promise<GitHostAnswer<BranchFacts>> {
    return this.#clientOf(account).factsOf(work);
  }

  async diffOf(account: GitAccount, work: BranchReference): Promise<GitHostAnswer<string>> {
    const answer = await this.#clientOf(account).diffOf(work);
    if (!answer.ok || Buffer.byteLength(answer.value) <= MAX_DIFF_BYTES) return answer;
    return refused({ kind: "too-large", message: `The diff is longer than ${MAX_DIFF_BYTES} bytes.` });
  }

  #clientOf(account: GitAccount): GitHub | GitLab {
    return account.kind === "github" ? new GitHub(account, this.#parts) : new GitLab(account, this.#parts);
  }

  /**
   * Recognizes the host by public endpoints and headers, so that the token is never sent to a host of unknown kind.
   */
  async #probe(host: string): Promise<GitHostAnswer<GitHostKind | null>> {
    const ask = wholeAnswers(this.#parts.fetch);
    const headers = { accept: "application/json", "user-agent": this.#parts.userAgent };
    const gitlab = await ask(`${siteOf(host)}/api/v4/version`, { headers });
    // Every response of GitLab's API has it, also a 401 without a token.
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
