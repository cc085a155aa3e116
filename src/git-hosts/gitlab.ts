/** Client of GitLab, in the cloud or self-hosted, by its REST API, and by GraphQL for diff statistics. */
import { z } from "zod";
import {
  type BranchFacts,
  type PullRequestFacts,
  type PullRequestState,
  unknownBranch,
} from "../domain/git/branch-facts.js";
import type { GitAccount, GitHostAnswer, BranchReference } from "../domain/git/git-hosts.js";
import { siteOf } from "../domain/git/git-origin.js";
import { failureOfError, failureOfStatus, refused } from "./failure.js";
import { type RequestDependencies, wholeAnswers } from "./requests.js";
import { countLines, fileDiff, toUnified, type FileDiff } from "./unified-diff.js";

const PAGE = 100;
/** A merge request with more pages of files counts as too large. */
const MAX_PAGES = 30;

const user = z.object({ username: z.string() });
const project = z.object({ default_branch: z.string().nullish(), web_url: z.string() });
const mergeRequest = z.object({
  iid: z.number(),
  title: z.string(),
  state: z.string(),
  draft: z.boolean().nullish(),
  web_url: z.string(),
  source_branch: z.string(),
  target_branch: z.string(),
  author: user.nullish(),
});
const reviewers = z.array(z.object({ state: z.string().nullish() }));
const comparison = z.object({ diffs: z.array(fileDiff).nullish(), compare_timeout: z.boolean().nullish() });
const stats = z.object({
  data: z.object({
    project: z
      .object({
        mergeRequest: z
          .object({
            diffStatsSummary: z
              .object({ additions: z.number(), deletions: z.number(), fileCount: z.number() })
              .nullish(),
          })
          .nullish(),
      })
      .nullish(),
  }),
});
const STATS = `query ($path: ID!, $iid: String!) {
  project(fullPath: $path) { mergeRequest(iid: $iid) { diffStatsSummary { additions deletions fileCount } } }
}`;

type MergeRequest = z.infer<typeof mergeRequest>;

/** A response with an error status. */
class Refused extends Error {
  override readonly name = "Refused";

  constructor(
    readonly response: Response,
    message: string,
  ) {
    super(message);
  }
}

export class GitLab {
  readonly #site: string;

  constructor(
    private readonly account: Pick<GitAccount, "host" | "token">,
    private readonly parts: RequestDependencies,
  ) {
    this.#site = siteOf(account.host);
  }

  loginOf(): Promise<GitHostAnswer<string>> {
    return this.#answer(async () => (await this.#get("/user", user)).username);
  }

  factsOf(work: BranchReference): Promise<GitHostAnswer<BranchFacts>> {
    return this.#answer(async () => {
      const found = await this.#mergeRequestOf(work);
      return found ? this.#factsOfMergeRequest(work.path, found) : this.#factsOfBranch(work);
    });
  }

  diffOf(work: BranchReference): Promise<GitHostAnswer<string>> {
    return this.#answer(async () => {
      const found = await this.#mergeRequestOf(work);
      if (found) return toUnified(await this.#diffsOf(work.path, found.iid));
      const { default_branch: base } = await this.#get(at(work.path), project);
      if (!base) throw new Error("The project has no default branch.");
      const { diffs } = await this.#get(compare(work, base), comparison);
      return toUnified(diffs ?? []);
    });
  }

  /** The known merge request while it is open; else the newest open one, else the known one. */
  async #mergeRequestOf({ path, branch, pullRequest }: BranchReference): Promise<MergeRequest | null> {
    const one = pullRequest === null ? null : `${at(path)}/merge_requests/${pullRequest}`;
    const known = one === null ? null : await unlessMissing(this.#get(one, mergeRequest));
    if (known?.state === "opened") return known;
    const query = new URLSearchParams({ source_branch: branch, state: "opened", per_page: "1" });
    const [open] = await this.#get(`${at(path)}/merge_requests?${query}`, z.array(mergeRequest));
    return open ?? known;
  }

  async #factsOfMergeRequest(path: string, found: MergeRequest): Promise<BranchFacts> {
    const { iid } = found;
    const [reviews, numbers] = await Promise.all([
      unlessMissing(this.#get(`${at(path)}/merge_requests/${iid}/reviewers`, reviewers)),
      this.#statsOf(path, iid),
    ]);
    const pullRequest: PullRequestFacts = {
      number: iid,
      title: found.title,
      state: stateOf(found.state),
      isDraft: found.draft ?? false,
      hasChangesRequested: (reviews ?? []).some(({ state }) => state === "requested_changes"),
      authorLogin: found.author?.username ?? null,
    };
    const { web_url: url, source_branch: headBranch, target_branch: baseBranch } = found;
    return { url, ...numbers, headBranch, baseBranch, pullRequest };
  }

  /** REST has only the number of files, and that only up to a thousand. */
  async #statsOf(
    path: string,
    iid: number,
  ): Promise<Pick<BranchFacts, "additions" | "deletions" | "changedFiles">> {
    const body = JSON.stringify({ query: STATS, variables: { path, iid: String(iid) } });
    const { data } = await this.#ask(`${this.#site}/api/graphql`, stats, { method: "POST", body });
    const summary = data.project?.mergeRequest?.diffStatsSummary;
    const { additions = 0, deletions = 0, fileCount: changedFiles = 0 } = summary ?? {};
    return { additions, deletions, changedFiles };
  }

  async #factsOfBranch(work: BranchReference): Promise<BranchFacts> {
    const { path, branch } = work;
    const { default_branch: baseBranch, web_url: pages } = await this.#get(at(path), project);
    if (!baseBranch) return unknownBranch(branch);
    if (branch === baseBranch) return { ...unknownBranch(branch), baseBranch };
    const compared = await unlessMissing(this.#get(compare(work, baseBranch), comparison));
    if (!compared) return unknownBranch(branch);
    const diffs = compared.diffs ?? [];
    const url = `${pages}/-/compare/${encodeURIComponent(baseBranch)}...${encodeURIComponent(branch)}`;
    const known = { headBranch: branch, baseBranch, pullRequest: null };
    return { url, ...countLines(diffs), changedFiles: diffs.length, ...known };
  }

  async #diffsOf(path: string, iid: number): Promise<FileDiff[]> {
    const diffs: FileDiff[] = [];
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const query = `per_page=${PAGE}&page=${page}`;
      const found = await this.#get(`${at(path)}/merge_requests/${iid}/diffs?${query}`, z.array(fileDiff));
      diffs.push(...found);
      if (found.length < PAGE) return diffs;
    }
    return [...diffs, TOO_MANY];
  }

  #get<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    return this.#ask(`${this.#site}/api/v4${path}`, shape);
  }

  async #ask<T>(url: string, shape: z.ZodType<T>, init: RequestInit = {}): Promise<T> {
    const headers = {
      accept: "application/json",
      // Works for personal, project, group and OAuth tokens.
      authorization: `Bearer ${this.account.token}`,
      "user-agent": this.parts.userAgent,
      ...(init.body ? { "content-type": "application/json" } : {}),
    };
    const response = await wholeAnswers(this.parts.fetch)(url, { ...init, headers });
    const text = await response.text();
    if (!response.ok) throw new Refused(response, wordsOf(text));
    return shape.parse(JSON.parse(text));
  }

  async #answer<T>(ask: () => Promise<T>): Promise<GitHostAnswer<T>> {
    try {
      return { ok: true, value: await ask() };
    } catch (error) {
      return refused(this.#failureOf(error));
    }
  }

  #failureOf(error: unknown) {
    if (error instanceof z.ZodError || error instanceof SyntaxError)
      return { kind: "failed" as const, message: "The host's answer is not one of GitLab's." };
    if (!(error instanceof Refused)) return failureOfError(error);
    const { status, headers } = error.response;
    const refusal = { status, header: (name: string) => headers.get(name), words: error.message };
    return failureOfStatus(refusal, this.parts.now());
  }
}

/** Stands for the files beyond `MAX_PAGES`. */
const TOO_MANY: FileDiff = { old_path: "", new_path: "", diff: "", too_large: true };

function at(path: string): string {
  return `/projects/${encodeURIComponent(path)}`;
}

function compare({ path, branch }: BranchReference, base: string): string {
  return `${at(path)}/repository/compare?${new URLSearchParams({ from: base, to: branch })}`;
}

function stateOf(state: string): PullRequestState {
  // `locked` means that it is being merged.
  return state === "merged" || state === "closed" ? state : "open";
}

/** The message of an error: `{"message": …}`, `{"error": …}`, or a proxy's page. */
function wordsOf(text: string): string {
  try {
    const { message, error } = z
      .looseObject({ message: z.unknown(), error: z.unknown() })
      .parse(JSON.parse(text));
    const reason = message ?? error;
    return typeof reason === "string" ? reason : JSON.stringify(reason ?? "");
  } catch {
    return text;
  }
}

/** Null for a 404. */
async function unlessMissing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refused && error.response.status === 404) return null;
    throw error;
  }
}
