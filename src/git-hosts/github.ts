/** Client of GitHub, in the cloud or self-hosted, by its REST API. */
import { Octokit } from "@octokit/rest";
import {
  type BranchFacts,
  hasChangesRequested,
  type PullRequestFacts,
  unknownBranch,
} from "../domain/git/branch-facts.js";
import type { GitAccount, GitHostAnswer, BranchReference } from "../domain/git/git-hosts.js";
import { siteOf } from "../domain/git/git-origin.js";
import { failureOfError, failureOfStatus, refused } from "./failure.js";
import { type RequestDependencies, wholeAnswers } from "./requests.js";

/** Only the newest reviews decide; more are not read. */
const MAX_REVIEWS = 100;
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DIFF = { format: "diff" } as const;

type Project = { owner: string; repo: string };
type PullRequest = Awaited<ReturnType<Octokit["rest"]["pulls"]["get"]>>["data"];

export class GitHub {
  readonly #octokit: Octokit;

  constructor(
    account: Pick<GitAccount, "host" | "token">,
    private readonly parts: RequestDependencies,
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

  factsOf(work: BranchReference): Promise<GitHostAnswer<BranchFacts>> {
    const project = projectOf(work.path);
    if (project === null) return Promise.resolve(noProject(work.path));
    return this.#answer(async () => {
      const pull = await this.#pullRequestOf(project, work);
      return pull ? this.#factsOfPull(project, pull) : this.#factsOfBranch(project, work.branch);
    });
  }

  diffOf(work: BranchReference): Promise<GitHostAnswer<string>> {
    const project = projectOf(work.path);
    if (project === null) return Promise.resolve(noProject(work.path));
    return this.#answer(async () => {
      const pull = await this.#pullRequestOf(project, work);
      if (pull) {
        const parameters = { ...project, pull_number: pull.number, mediaType: DIFF };
        return textOf((await this.#octokit.rest.pulls.get(parameters)).data);
      }
      const basehead = `${await this.#defaultBranch(project)}...${work.branch}`;
      const parameters = { ...project, basehead, mediaType: DIFF };
      return textOf((await this.#octokit.rest.repos.compareCommitsWithBasehead(parameters)).data);
    });
  }

  /** The known pull request while it is open; else the newest open one, else the known one. */
  async #pullRequestOf(project: Project, work: BranchReference): Promise<PullRequest | null> {
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

  /** GitHub lists at most 300 files of a comparison; the rest is not counted. */
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

/** The host's response in an error of the client; null for other errors. */
function answerOf(error: unknown): Answer | null {
  const response = error instanceof Error && "response" in error ? error.response : undefined;
  return response === undefined ? null : (response as Answer);
}

/** Null for a 404. */
async function unlessMissing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (answerOf(error)?.status === 404) return null;
    throw error;
  }
}

/** With the media type of a diff the response is text, unlike its declared type. */
function textOf(data: unknown): string {
  if (typeof data !== "string") throw new Error("The host did not answer with a diff.");
  return data;
}
