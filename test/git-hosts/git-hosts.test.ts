// Git hosts as Parley asks them, through the real clients: one server that speaks like GitHub, one like GitLab.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MAX_DIFF_BYTES } from "../../src/domain/git/branch-facts.js";
import type { GitAccount, GitHostKind } from "../../src/domain/git/git-hosts.js";
import { RemoteGitHosts } from "../../src/git-hosts/git-hosts.js";
import { systemClock } from "../../src/lib/clock.js";
import { OutboundFetch } from "../../src/lib/outbound/outbound-fetch.js";
import { startGitHubShaped } from "../support/git/github-shaped.js";
import { startGitLabShaped } from "../support/git/gitlab-shaped.js";
import {
  greeterProject,
  type ShapedHost,
  startShapedHost,
  unifiedOf,
} from "../support/git/git-host-server.js";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const outbound = new OutboundFetch(systemClock);
afterAll(() => outbound.close());

function openHosts(isPrivateAllowed = true): RemoteGitHosts {
  const policy = { isPrivateAllowed, timeoutMs: 10_000, maxBodyBytes: 2 * MAX_DIFF_BYTES };
  return new RemoteGitHosts({ fetch: outbound.for(policy), now: () => NOW, userAgent: "parley/tests" });
}

const hosts = openHosts();
const branch = (pullRequest: number | null = null) => ({ path: "ada/greeter", branch: "hello", pullRequest });
const NUMBERS = { additions: 3, deletions: 1, changedFiles: 2 };

describe.each<{ kind: GitHostKind; start(): Promise<ShapedHost>; pages: (number: string) => string }>([
  { kind: "github", start: startGitHubShaped, pages: (number) => `/ada/greeter/pull/${number}` },
  { kind: "gitlab", start: startGitLabShaped, pages: (number) => `/ada/greeter/-/merge_requests/${number}` },
])("$kind", ({ kind, start, pages }) => {
  let host: ShapedHost;
  let account: GitAccount;
  beforeAll(async () => {
    host = await start();
    account = { host: host.host, kind, token: "token-of-ada" };
  });
  afterAll(() => host.close());
  beforeEach(() => {
    host.projects.set("ada/greeter", greeterProject());
    host.logins.set("token-of-ada", "ada");
    host.asked.length = 0;
  });
  afterEach(() => {
    host.failing = null;
  });

  const facts = async (pullRequest: number | null = null) => {
    const answer = await hosts.factsOf(account, branch(pullRequest));
    return answer.ok ? answer.value : answer.failure;
  };
  const opened = (more: object = {}) => ({
    ...{ url: `${host.host}${pages("7")}`, ...NUMBERS, headBranch: "hello", baseBranch: "main" },
    pullRequest: {
      ...{ number: 7, title: "Say hello", state: "open", isDraft: false, hasChangesRequested: false },
      ...{ authorLogin: "ada", ...more },
    },
  });

  test("says what it is before any token is shown to it", async () => {
    expect(await hosts.kindOf(host.host)).toEqual({ ok: true, value: kind });
  });

  test("says who a token is", async () => {
    expect(await hosts.loginOf(account)).toEqual({ ok: true, value: "ada" });
  });

  test("a branch without a pull request is compared with the default branch", async () => {
    expect(await facts()).toEqual({
      ...{ url: expect.stringContaining("compare/main...hello") as string, ...NUMBERS },
      ...{ headBranch: "hello", baseBranch: "main", pullRequest: null },
    });
  });

  test("a branch that was not pushed yet has no numbers and no page", async () => {
    host.projects.get("ada/greeter")?.branches.clear();
    expect(await facts()).toEqual({
      ...{ url: null, additions: 0, deletions: 0, changedFiles: 0 },
      ...{ headBranch: "hello", baseBranch: null, pullRequest: null },
    });
  });

  test("the default branch itself is compared with nothing", async () => {
    const answer = await hosts.factsOf(account, { path: "ada/greeter", branch: "main", pullRequest: null });
    expect(answer).toMatchObject({ ok: true, value: { additions: 0, baseBranch: "main", url: null } });
  });

  test("an open pull request is found by its branch", async () => {
    host.open("ada/greeter", { number: 6, branch: "other" });
    host.open("ada/greeter", { number: 7, branch: "hello" });
    expect(await facts()).toEqual(opened());
  });

  test.each([
    ["merged", "merged"],
    ["closed", "closed"],
  ] as const)("one that is known is still known when it is %s", async (_, state) => {
    host.open("ada/greeter", { number: 7, branch: "hello", state });
    expect(await facts(7)).toEqual(opened({ state }));
  });

  test("an open one takes the place of one that is closed", async () => {
    host.open("ada/greeter", { number: 3, branch: "hello", state: "closed" });
    host.open("ada/greeter", { number: 7, branch: "hello", isDraft: true, author: null });
    expect(await facts(3)).toEqual(opened({ isDraft: true, authorLogin: null }));
  });

  test("a known one that is gone is looked up again", async () => {
    host.open("ada/greeter", { number: 7, branch: "hello" });
    expect(await facts(99)).toEqual(opened());
  });

  test("the last decisive review of each reviewer counts", async () => {
    const pull = host.open("ada/greeter", { number: 7, branch: "hello" });
    pull.reviews.push({ reviewer: "bob", state: "CHANGES_REQUESTED" });
    pull.reviews.push({ reviewer: "eve", state: "APPROVED" });
    expect(await facts(7)).toEqual(opened({ hasChangesRequested: true }));
    pull.reviews.push({ reviewer: "bob", state: "APPROVED" });
    expect(await facts(7)).toEqual(opened());
  });

  test("the diff is the pull request's, else the branch's", async () => {
    const unified = unifiedOf(host.projects.get("ada/greeter")?.branches.get("hello") ?? []);
    expect(await hosts.diffOf(account, branch())).toEqual({ ok: true, value: unified });
    host.open("ada/greeter", { number: 7, branch: "hello" });
    expect(await hosts.diffOf(account, branch())).toEqual({ ok: true, value: unified });
  });

  test("a diff of more than 4 MiB is too large, also where the answer breaks off", async () => {
    const long = (bytes: number) => [{ path: "long.txt", hunk: `@@ -0,0 +1 @@\n+${"x".repeat(bytes)}\n` }];
    for (const bytes of [MAX_DIFF_BYTES, 3 * MAX_DIFF_BYTES]) {
      host.projects.get("ada/greeter")?.branches.set("hello", long(bytes));
      expect(await hosts.diffOf(account, branch())).toMatchObject({
        ok: false,
        failure: { kind: "too-large" },
      });
    }
  });

  test("a token that was taken back is unauthorized", async () => {
    host.logins.clear();
    expect(await facts()).toMatchObject({ kind: "unauthorized" });
    expect(await hosts.loginOf(account)).toMatchObject({ ok: false, failure: { kind: "unauthorized" } });
  });

  test("a project that the token may not see is not found", async () => {
    host.projects.clear();
    expect(await facts()).toMatchObject({ kind: "not-found" });
  });

  test.each<[string, { status: number; headers?: Record<string, string> }, object]>([
    ["500", { status: 500 }, { kind: "failed", message: expect.stringContaining("500") as string }],
    ["a plain 403", { status: 403 }, { kind: "failed" }],
    ["429 with Retry-After", { status: 429, headers: { "retry-after": "30" } }, limited(NOW + 30_000)],
    ["429 without a word", { status: 429 }, limited(null)],
    [
      "403 with nothing left",
      {
        status: 403,
        headers: {
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": String(NOW / 1_000 + 90),
          // Its clock is a minute ahead.
          date: new Date(NOW + 60_000).toUTCString(),
        },
      },
      limited(NOW + 30_000),
    ],
  ])("%s is recognized", async (_, answer, failure) => {
    host.failing = { body: { message: "no" }, ...answer };
    expect(await facts()).toMatchObject(failure);
  });

  test("an answer of something else is a failure", async () => {
    host.failing = { status: 200, body: "<html>Sign in</html>" };
    expect(await facts()).toMatchObject({ kind: "failed" });
  });

  test("a private address is not reached unless that is allowed, and a server that closes lets go", async () => {
    const guarded = openHosts(false);
    const failed = { ok: false, failure: { kind: "failed" } };
    expect(await guarded.factsOf(account, branch())).toMatchObject(failed);
    expect(host.asked).toEqual([]);
    let release = () => {};
    host.held = new Promise((resolve) => (release = resolve));
    const closing = openHosts();
    const asked = closing.factsOf(account, branch());
    closing.close();
    expect(await asked).toMatchObject(failed);
    host.held = null;
    release();
  });
});

function limited(retryAt: number | null) {
  return { kind: "rate-limited", retryAt };
}

test("hosts that are neither are known as such, and github.com and gitlab.com without asking", async () => {
  const nothing = { status: 404, body: "nothing here" };
  const other = await startShapedHost({
    headers: {},
    unauthorized: nothing,
    isOpen: () => true,
    answer: () => nothing,
  });
  expect(await hosts.kindOf("github.com")).toEqual({ ok: true, value: "github" });
  expect(await hosts.kindOf("gitlab.com")).toEqual({ ok: true, value: "gitlab" });
  expect(await hosts.kindOf(other.host)).toEqual({ ok: true, value: null });
  other.failing = { status: 503, body: "later" };
  expect(await hosts.kindOf(other.host)).toMatchObject({ ok: false, failure: { kind: "failed" } });
  await other.close();
  expect(await hosts.kindOf(other.host)).toMatchObject({ ok: false, failure: { kind: "failed" } });
});

test("projects in subgroups are GitLab's alone", async () => {
  const [github, gitlab] = [await startGitHubShaped(), await startGitLabShaped()];
  gitlab.projects.set("team/tools/greeter", greeterProject());
  const work = { path: "team/tools/greeter", branch: "hello", pullRequest: null };
  const token = "token-of-ada";
  expect(await hosts.factsOf({ host: gitlab.host, kind: "gitlab", token }, work)).toMatchObject({ ok: true });
  expect(await hosts.factsOf({ host: github.host, kind: "github", token }, work)).toMatchObject({
    ok: false,
    failure: { kind: "not-found" },
  });
  expect(github.asked).toEqual([]);
  await Promise.all([github.close(), gitlab.close()]);
});
