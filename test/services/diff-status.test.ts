// Diff status of chats' branches: requests to git hosts, poll intervals and events. Against servers with the APIs of
// GitHub and GitLab, through the real clients.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MAX_DIFF_BYTES } from "../../src/domain/git/branch-facts.js";
import type { ListEntry } from "../../src/domain/chats/list-events.js";
import { HostedBranchDiffs } from "../../src/services/git/branch-diffs.js";
import type { DiffPollDependencies } from "../../src/services/git/diff-polls.js";
import { trackPush, trackBranch } from "../../src/services/git/track-branch.js";
import { DiffStatusWorker } from "../../src/services/git/diff-status-worker.js";
import { RemoteGitHosts } from "../../src/git-hosts/git-hosts.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { OutboundFetch } from "../../src/lib/outbound/outbound-fetch.js";
import { readChat } from "../../src/store/chats/chat-source.js";
import { pollAgainWithToken, readDiffStatuses } from "../../src/store/git/diff-statuses.js";
import { connectGitHost, listGitConnections } from "../../src/store/git/git-connections.js";
import { startGitHubShaped } from "../support/git/github-shaped.js";
import { startGitLabShaped } from "../support/git/gitlab-shaped.js";
import { insertChat, insertViewer } from "../support/database/rows.js";
import { testSecretBox } from "../support/users/secrets-keys.js";
import { greeterProject, type ShapedHost } from "../support/git/git-host-server.js";
import { World, type Replica } from "../engine/world.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let world: World;
let github: ShapedHost;
let gitlab: ShapedHost;
const outbound = new OutboundFetch(systemClock);
beforeAll(async () => {
  [world, github, gitlab] = await Promise.all([World.open(), startGitHubShaped(), startGitLabShaped()]);
});
afterAll(async () => {
  await Promise.all([world.close(), github.close(), gitlab.close(), outbound.close()]);
});

let replica: Replica;
let dependencies: DiffPollDependencies & { hosts: RemoteGitHosts };
let worker: DiffStatusWorker;
beforeEach(async () => {
  replica = world.replica();
  dependencies = dependenciesOf(replica);
  worker = new DiffStatusWorker(dependencies);
  for (const host of [github, gitlab]) {
    host.projects.set("ada/greeter", greeterProject());
    host.logins.set("token-of-ada", "ada");
    host.asked.length = 0;
    await connect(host);
  }
});
afterEach(async () => {
  for (const host of [github, gitlab]) Object.assign(host, { failing: null, held: null });
  await worker.close();
  await world.closeReplicas();
  await world.run("DELETE FROM chats");
  await world.run("DELETE FROM git_connections");
});

function dependenciesOf({ dependencies: { database, bus, chatCache }, clock }: Replica) {
  const policy = { isPrivateAllowed: true, timeoutMs: 60_000, maxBodyBytes: 2 * MAX_DIFF_BYTES };
  const hosts = new RemoteGitHosts({
    ...{ fetch: outbound.for(policy), now: () => clock.now(), userAgent: "parley/tests" },
  });
  return { database, bus, chatCache, clock, hosts, secrets: testSecretBox, log: createLog("silent") };
}

function connect(host: ShapedHost, token = "token-of-ada", userId = world.viewer.userId) {
  return connectGitHost(world.database, testSecretBox, { userId, host: host.host, token });
}

/** A chat with git activity on that branch just now. */
async function chatAt(host: ShapedHost, branch = "hello"): Promise<string> {
  const chatId = await insertChat(world.database, { ownerId: world.viewer.userId });
  await trackBranch(dependencies, chatId, { branch, remoteOrigin: host.originOf("ada/greeter") });
  return chatId;
}

/** Moves the chat's stored times into the past, as if that much time had passed. */
async function later(chatId: string, ms: number): Promise<void> {
  const by = `${ms} * interval '1 millisecond'`;
  await world.run(
    `UPDATE chat_diff_statuses SET stale_at = stale_at - ${by}, marked_at = marked_at - ${by},
      claimed_at = claimed_at - ${by}, refreshed_at = refreshed_at - ${by} WHERE chat_id = '${chatId}'`,
  );
}

async function shown(chatId: string) {
  const status = (await readDiffStatuses(world.database, [chatId])).get(chatId);
  return status && { ...status, refreshedAt: status.refreshedAt === null ? null : "a time" };
}

/** Whole seconds until the chat's next poll, and the failure if there is one. */
async function rest(chatId: string): Promise<unknown> {
  const [row] = await world.run(
    `SELECT round(extract(epoch FROM stale_at - now()))::int AS seconds, failure
     FROM chat_diff_statuses WHERE chat_id = '${chatId}'`,
  );
  return [row?.["failure"], row?.["seconds"]];
}

const near = (ms: number): unknown => expect.closeTo(ms / SECOND, -1);
const versionOf = async (chatId: string) => (await readChat(world.database, chatId))?.state.diffVersion;

async function listen(): Promise<ListEntry[]> {
  const published: ListEntry[] = [];
  await world.bus.subscribeList(world.viewer.userId, (entry) => published.push(entry));
  return published;
}
const changesIn = (published: ListEntry[]) => published.flatMap(({ change }) => (change ? [change] : []));

describe.each([
  ["GitHub", () => github],
  ["GitLab", () => gitlab],
])("at %s", (_, hostOf) => {
  test("a branch becomes a pull request, is reviewed and merged, and each change is published once", async () => {
    const host = hostOf();
    const chatId = await chatAt(host);
    const published = await listen();
    const poll = async () => {
      await later(chatId, 31 * MINUTE);
      await worker.pollDue();
      return shown(chatId);
    };
    const numbers = { additions: 3, deletions: 1, changedFiles: 2, isStale: false, refreshedAt: "a time" };
    expect(await poll()).toMatchObject({
      ...numbers,
      headBranch: "hello",
      baseBranch: "main",
      pullRequest: null,
    });
    const pull = host.open("ada/greeter", { number: 7, branch: "hello" });
    const facts = { number: 7, title: "Say hello", state: "open", hasChangesRequested: false };
    expect(await poll()).toMatchObject({ ...numbers, pullRequest: facts });
    pull.reviews.push({ reviewer: "bob", state: "CHANGES_REQUESTED" });
    expect(await poll()).toMatchObject({ pullRequest: { ...facts, hasChangesRequested: true } });
    pull.reviews.push({ reviewer: "bob", state: "APPROVED" });
    expect(await poll()).toMatchObject({ pullRequest: facts });
    expect(await poll()).toMatchObject({ pullRequest: facts });
    pull.state = "merged";
    expect(await poll()).toMatchObject({ pullRequest: { ...facts, state: "merged" } });
    expect(await rest(chatId)).toEqual([null, near(30 * MINUTE)]);
    expect(changesIn(published)).toEqual(Array.from({ length: 5 }, () => ({ type: "diff-status", chatId })));
  });

  test("errors, rate limits and a revoked token delay the next poll, and the last known status stays", async () => {
    const host = hostOf();
    host.open("ada/greeter", { number: 7, branch: "hello" });
    const chatId = await chatAt(host);
    await worker.pollDue();
    const known = await shown(chatId);
    const reset = Math.round(replica.clock.now() / SECOND) + 60;
    const failures: [object | null, string, number][] = [
      [{ status: 500, body: "oh" }, "failed", 2 * MINUTE],
      [{ status: 429, headers: { "retry-after": "60" }, body: "slow" }, "rate-limited", 6 * MINUTE],
      [
        {
          status: 403,
          // The replica's clock is not the machine's, so the host says what time it is, too.
          headers: {
            ...{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset) },
            date: new Date(replica.clock.now()).toUTCString(),
          },
          body: "slow",
        },
        "rate-limited",
        6 * MINUTE,
      ],
      [null, "unauthorized", 10 * MINUTE],
    ];
    host.logins.clear();
    for (const [failing, failure, ms] of failures) {
      Object.assign(host, { failing });
      await later(chatId, 11 * MINUTE);
      await worker.pollDue();
      expect(await rest(chatId)).toEqual([failure, near(ms)]);
      expect(await shown(chatId)).toEqual({ ...known, isStale: true });
    }
    host.logins.set("another", "ada");
    await connect(host, "another");
    await pollAgainWithToken(world.database, world.viewer.userId);
    await worker.pollDue();
    expect(await shown(chatId)).toEqual(known);
  });
});

test("activity of one chat marks only that chat, and is published at once", async () => {
  const [parent, sibling] = [await chatAt(github, "other"), await chatAt(github)];
  await worker.pollDue();
  const before = [await shown(parent), await shown(sibling)];
  const versions = [await versionOf(parent), await versionOf(sibling)];
  const chatId = await insertChat(world.database, { ownerId: world.viewer.userId });
  const published = await listen();
  await trackBranch(dependencies, chatId, { branch: "hello", remoteOrigin: github.originOf("ada/greeter") });
  await trackBranch(dependencies, chatId, { branch: "hello", remoteOrigin: github.originOf("ada/greeter") });
  expect(await shown(chatId)).toMatchObject({ headBranch: "hello", isStale: true, refreshedAt: null });
  // The second mark shows nothing that the first did not.
  expect(changesIn(published)).toEqual([{ type: "diff-status", chatId }]);
  expect([await shown(parent), await shown(sibling)]).toEqual(before);
  expect([await versionOf(parent), await versionOf(sibling)]).toEqual(versions);
  expect(await worker.pollDue()).toBe(1);
});

test("a push counts for the chat's own branch, and for remotes without credentials", async () => {
  const origin = github.originOf("ada/greeter");
  const chatId = await chatAt(github);
  const other = await insertChat(world.database, { ownerId: world.viewer.userId });
  await worker.pollDue();
  await trackPush(dependencies, other, { branch: "hello", remoteOrigin: origin });
  await trackPush(dependencies, chatId, { branch: "somebody-elses", remoteOrigin: origin });
  expect(await shown(other)).toBe(undefined);
  expect(await shown(chatId)).toMatchObject({ headBranch: "hello", isStale: false });
  await trackPush(dependencies, chatId, { branch: "hello", remoteOrigin: origin });
  expect(await shown(chatId)).toMatchObject({ headBranch: "hello", isStale: true });
  const ssh = "git@github.com:ada/greeter.git";
  await trackPush(dependencies, other, { branch: "one", remoteOrigin: ssh });
  await trackPush(dependencies, other, { branch: "two", remoteOrigin: ssh });
  await trackPush(dependencies, other, { branch: "hello", remoteOrigin: origin });
  expect(await shown(other)).toMatchObject({ headBranch: "two", isStale: true });
});

test("another branch clears the status of the previous one", async () => {
  github.open("ada/greeter", { number: 7, branch: "hello" });
  const chatId = await chatAt(github);
  await worker.pollDue();
  await trackBranch(dependencies, chatId, { branch: "next", remoteOrigin: github.originOf("ada/greeter") });
  expect(await shown(chatId)).toMatchObject({ headBranch: "next", pullRequest: null, additions: 0 });
});

test("a branch just pushed is polled every 15 seconds, and after two minutes every five minutes", async () => {
  const chatId = await chatAt(github);
  await worker.pollDue();
  expect(await rest(chatId)).toEqual([null, near(15 * SECOND)]);
  await later(chatId, 2 * MINUTE);
  await worker.pollDue();
  expect(await rest(chatId)).toEqual([null, near(5 * MINUTE)]);
});

test("without a token no host is polled for ten minutes, or until there is one", async () => {
  await world.run("DELETE FROM git_connections");
  const chatId = await chatAt(github);
  await worker.pollDue();
  expect([await rest(chatId), github.asked]).toEqual([["no-token", near(10 * MINUTE)], []]);
  const pathless = await insertChat(world.database, { ownerId: world.viewer.userId });
  await trackBranch(dependencies, pathless, { branch: "hello", remoteOrigin: "/srv/greeter.git" });
  await worker.pollDue();
  expect(await rest(pathless)).toEqual(["no-host", near(10 * MINUTE)]);
});

test("a rate limit delays the rest of its group, and no other group", async () => {
  const [first, second] = [await chatAt(github, "one"), await chatAt(github, "two")];
  const elsewhere = await chatAt(gitlab);
  github.failing = { status: 429, headers: { "retry-after": "60" }, body: "slow" };
  await world.run("UPDATE git_connections SET kind = 'github' WHERE host = '" + github.host + "'");
  await worker.pollDue();
  expect(github.asked).toHaveLength(1);
  expect([await rest(first), await rest(second)]).toEqual([
    ["rate-limited", near(6 * MINUTE)],
    ["rate-limited", near(6 * MINUTE)],
  ]);
  expect(await shown(elsewhere)).toMatchObject({ isStale: false });
  // Nor does it help to ask oneself.
  const diffs = new HostedBranchDiffs(dependencies);
  const refused = { outcome: "failed", message: expect.stringContaining("rate limit is reached") as string };
  expect([await diffs.refresh(first), await diffs.read(first)]).toEqual([refused, null]);
  expect(github.asked).toHaveLength(1);
});

test("two replicas share what is due, and chats on one branch share the answer", async () => {
  const chats = await Promise.all(Array.from({ length: 6 }, () => chatAt(github)));
  const other = new DiffStatusWorker(dependenciesOf(world.replica()));
  const claimed = await Promise.all([worker.pollDue(), other.pollDue()]);
  await other.close();
  expect(claimed[0] + claimed[1]).toBe(6);
  const statuses = await readDiffStatuses(world.database, chats);
  expect([...statuses.values()].filter(({ isStale }) => !isStale)).toHaveLength(6);
  const lists = github.asked.filter((it) => it.includes("/pulls?"));
  expect(lists.length).toBeLessThanOrEqual(2);
});

test("archived chats and chats of deactivated users are not polled, and their tokens are not used", async () => {
  const chatId = await chatAt(github);
  await world.run(`UPDATE chats SET archived_at = now() WHERE id = '${chatId}'`);
  const { userId: ownerId } = await insertViewer(world.database);
  await connect(github, "token-of-ada", ownerId);
  await world.run(`UPDATE users SET deactivated_at = now() WHERE id = '${ownerId}'`);
  const idle = await insertChat(world.database, { ownerId });
  await trackBranch(dependencies, idle, { branch: "hello", remoteOrigin: github.originOf("ada/greeter") });
  await worker.pollDue();
  expect([github.asked, await worker.pollDue()]).toEqual([[], 0]);
  // Those of the viewer alone.
  expect(await worker.resolveLogins()).toBe(2);
});

/** Delays the host's answers until the returned function is called. */
function pauseAnswers(host: ShapedHost): () => void {
  let release = () => {};
  host.held = new Promise((resolve) => (release = resolve));
  return () => {
    host.held = null;
    release();
  };
}

test("activity during a poll stays due", async () => {
  const chatId = await chatAt(github);
  const [release, arrival] = [pauseAnswers(github), github.arrival()];
  const poll = worker.pollDue();
  await arrival;
  await trackBranch(dependencies, chatId, { branch: "hello", remoteOrigin: github.originOf("ada/greeter") });
  release();
  await poll;
  expect(await shown(chatId)).toMatchObject({ additions: 3, refreshedAt: "a time", isStale: true });
  expect(await worker.pollDue()).toBe(1);
  expect(await shown(chatId)).toMatchObject({ additions: 3, isStale: false });
});

test("the answer for a branch that the chat has left is dropped", async () => {
  const chatId = await chatAt(github);
  const [release, arrival] = [pauseAnswers(github), github.arrival()];
  const refreshed = new HostedBranchDiffs(dependencies).refresh(chatId);
  await arrival;
  await trackBranch(dependencies, chatId, { branch: "next", remoteOrigin: github.originOf("ada/greeter") });
  const version = await versionOf(chatId);
  release();
  await refreshed;
  expect(await shown(chatId)).toMatchObject({
    headBranch: "next",
    additions: 0,
    refreshedAt: null,
    isStale: true,
  });
  expect(await versionOf(chatId)).toBe(version);
});

test("a closing worker releases unfinished claims", async () => {
  const chatId = await chatAt(github);
  const [release, arrival] = [pauseAnswers(github), github.arrival()];
  worker.start();
  replica.clock.advance(10_000);
  await arrival;
  expect(await rest(chatId)).toEqual([null, near(5 * MINUTE)]);
  const closed = worker.close();
  dependencies.hosts.close();
  await closed;
  expect(await rest(chatId)).toEqual([null, near(0)]);
  release();
  const next = new DiffStatusWorker(dependenciesOf(replica));
  expect(await next.pollDue()).toBe(1);
  expect(await shown(chatId)).toMatchObject({ isStale: false });
});

test("the login of a new token is requested once", async () => {
  const logins = async () =>
    (await listGitConnections(world.database, world.viewer.userId)).map(({ host, login }) => [host, login]);
  gitlab.failing = { status: 500, body: "oh" };
  expect(await worker.resolveLogins()).toBe(2);
  expect(new Map((await logins()) as [string, string][])).toEqual(
    new Map([
      [github.host, "ada"],
      [gitlab.host, null],
    ]),
  );
  gitlab.failing = null;
  expect(await worker.resolveLogins()).toBe(0);
  await world.run("UPDATE git_connections SET ask_at = now() WHERE ask_at IS NOT NULL");
  expect(await worker.resolveLogins()).toBe(1);
  expect((await logins()).every(([, login]) => login === "ada")).toBe(true);
  await world.run("UPDATE git_connections SET ask_at = now()");
  github.logins.clear();
  gitlab.logins.clear();
  await worker.resolveLogins();
  expect(await world.run("SELECT 1 FROM git_connections WHERE ask_at IS NOT NULL")).toEqual([]);
});

test("a user's refresh returns an explanation", async () => {
  const diffs = new HostedBranchDiffs(dependencies);
  const silent = await insertChat(world.database, { ownerId: world.viewer.userId });
  const chatId = await chatAt(github);
  expect(await diffs.refresh(silent)).toEqual({ outcome: "no-branch" });
  expect(await diffs.read(silent)).toBe(null);
  expect(await diffs.refresh(chatId)).toEqual({ outcome: "refreshed" });
  const diff = { branch: "hello", remoteOrigin: github.originOf("ada/greeter"), isTruncated: false };
  expect(await diffs.read(chatId)).toMatchObject({
    ...diff,
    unified: expect.stringContaining("+hello") as string,
  });
  github.projects
    .get("ada/greeter")
    ?.branches.set("hello", [{ path: "long.txt", hunk: `@@ -0,0 +1 @@\n+${"x".repeat(MAX_DIFF_BYTES)}\n` }]);
  expect(await diffs.read(chatId)).toMatchObject({
    isTruncated: true,
    unified: expect.stringMatching(/^.{0,99}\n$/) as string,
  });
  github.failing = { status: 500, body: "oh" };
  expect(await diffs.refresh(chatId)).toMatchObject({ outcome: "failed" });
  expect(await diffs.read(chatId)).toBe(null);
  await world.run("DELETE FROM git_connections");
  expect(await diffs.refresh(chatId)).toEqual({ outcome: "no-token", host: github.host });
});
