/** GitHub, in the cloud or on one's own machines, by its REST API. */
import { Octokit } from "@octokit/rest";
import {
  type BranchFacts,
  hasChangesRequested,
  type PullRequestFacts,
  unknownBranch,
} from "../domain/git/branch-facts.js";
import type { GitAccount, GitHostAnswer, GitWork } from "../domain/git/git-hosts.js";
import { siteOf } from "../domain/git/git-origin.js";
import { failureOfError, failureOfStatus, refused } from "./failure.js";
import { type RequestParts, wholeAnswers } from "./requests.js";

/** The newest decide; who has more reviewers than that has read enough. */
const MAX_REVIEWS = 100;
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DIFF = { format: "diff" } as const;

type Project = { owner: string; repo: string };
type PullRequest = Awaited<ReturnType<Octokit["rest"]["pulls"]["get"]>>["data"];

export class GitHub {
  readonly #octokit: Octokit;

  constructor(
    account: Pick<GitAccount, "host" | "token">,
    private readonly parts: RequestParts,
  ) {
    this.#octokit = new Octokit({
      auth: account.token,
      baseUrl: apiOf(account.host),
      userAgent: parts.userAgent,
      log: SILENT,
      request: { fetch: wholeAnswers(parts.fetch), log: SILENT },
    });
  }

  loginOf(): Promise<GitHostAnswer<string>> {
    return this.#answer(async () => (await this.#octokit.rest.users.getAuthenticated()).data.login);
  }

  factsOf(work: GitWork): Promise<GitHostAnswer<BranchFacts>> {
    const project = projectOf(work.path);
    if (project === null) return Promise.resolve(noProject(work.path));
    return this.#answer(async () => {
      const pull = await this.#pullRequestOf(project, work);
      return pull ? this.#factsOfPull(project, pull) : this.#factsOfBranch(project, work.branch);
    });
  }

  diffOf(work: GitWork): Promise<GitHostAnswer<string>> {
    const project = projectOf(work.path);
    if (project === null) return Promise.resolve(noProject(work.path));
    return this.#answer(async () => {
      const pull = await this.#pullRequestOf(project, work);
      if (pull) {
        const wanted = { ...project, pull_number: pull.number, mediaType: DIFF };
        return textOf((await this.#octokit.rest.pulls.get(wanted)).data);
      }
      const basehead = `${await this.#defaultBranch(project)}...${work.branch}`;
      const wanted = { ...project, basehead, mediaType: DIFF };
      return textOf((await this.#octokit.rest.repos.compareCommitsWithBasehead(wanted)).data);
    });
  }

  /** The one that is known while it is open; else the newest open one, else the one that is known. */
  async #pullRequestOf(project: Project, work: GitWork): Promise<PullRequest | null> {
    const known = work.pullRequest === null ? null : await this.#pull(project, work.pullRequest);
    if (known?.state === "open") return known;
    const { data } = await this.#octokit.rest.pulls.list({
      ...project,
      head: `${project.owner}:${work.branch}`,
      state: "open",
      per_page: 1,
    });
    const [open] = data;
    return open ? this.#pull(project, open.number) : known;
  }

  async #pull(project: Project, number: number): Promise<PullRequest | null> {
    const asked = this.#octokit.rest.pulls.get({ ...project, pull_number: number });
    return (await unlessMissing(asked))?.data ?? null;
  }

  async #factsOfPull(project: Project, pull: PullRequest): Promise<BranchFacts> {
    const { number } = pull;
    const { data } = await this.#octokit.rest.pulls.listReviews({
      ...{ ...project, pull_number: number, per_page: MAX_REVIEWS },
    });
    const reviews = data.map(({ user, state }) => ({ reviewer: user?.login ?? "", state }));
    const pullRequest: PullRequestFacts = {
      number,
      title: pull.title,
      state: pull.merged_at !== null ? "merged" : pull.state === "closed" ? "closed" : "open",
      isDraft: pull.draft ?? false,
      hasChangesRequested: hasChangesRequested(reviews),
      authorLogin: pull.user?.login ?? null,
    };
    return {
      url: pull.html_url,
      ...{ additions: pull.additions, deletions: pull.deletions, changedFiles: pull.changed_files },
      ...{ headBranch: pull.head.ref, baseBranch: pull.base.ref, pullRequest },
    };
  }

  /** The host lists at most 300 files; of a larger difference more is not known. */
  async #factsOfBranch(project: Project, branch: string): Promise<BranchFacts> {
    const baseBranch = await this.#defaultBranch(project);
    if (branch === baseBranch) return { ...unknownBranch(branch), baseBranch };
    const basehead = `${baseBranch}...${branch}`;
    const compared = await unlessMissing(
      this.#octokit.rest.repos.compareCommitsWithBasehead({ ...project, basehead }),
    );
    if (!compared) return unknownBranch(branch);
    const files = compared.data.files ?? [];
    return {
      url: compared.data.html_url,
      additions: files.reduce((sum, file) => sum + file.additions, 0),
      deletions: files.reduce((sum, file) => sum + file.deletions, 0),
      ...{ changedFiles: files.length, headBranch: branch, baseBranch, pullRequest: null },
    };
  }

  async #defaultBranch(project: Project): Promise<string> {
    return (await this.#octokit.rest.repos.get(project)).data.default_branch;
  }

  async #answer<T>(ask: () => Promise<T>): Promise<GitHostAnswer<T>> {
    try {
      return { ok: true, value: await ask() };
    } catch (error) {
      return refused(this.#failureOf(error));
    }
  }

  #failureOf(error: unknown) {
    const answer = answerOf(error);
    if (answer === null) return failureOfError(error);
    const headers = new Map(Object.entries(answer.headers));
    const header = (name: string) => headers.get(name)?.toString() ?? null;
    const words = error instanceof Error ? error.message : "";
    return failureOfStatus({ status: answer.status, header, words }, this.parts.now());
  }
}

function apiOf(host: string): string {
  return host === "github.com" ? "https://api.github.com" : `${siteOf(host)}/api/v3`;
}

function projectOf(path: string): Project | null {
  const [owner, repo, ...rest] = path.split("/");
  return owner && repo && rest.length === 0 ? { owner, repo } : null;
}

function noProject<T>(path: string): GitHostAnswer<T> {
  return refused({ kind: "not-found", message: `${path} is not the name of a project at GitHub.` });
}

type Answer = { status: number; headers: Record<string, string | number | undefined> };

/** What the host answered; null for errors that are not an answer of it. */
function answerOf(error: unknown): Answer | null {
  const response = error instanceof Error && "response" in error ? error.response : undefined;
  return response === undefined ? null : (response as Answer);
}

/** Null where the host says that there is no such thing. */
async function unlessMissing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (answerOf(error)?.status === 404) return null;
    throw error;
  }
}

/** With the media type of a diff the answer is text, whatever the types say. */
function textOf(data: unknown): string {
  if (typeof data !== "string") throw new Error("The host did not answer with a diff.");
  return data;
}
