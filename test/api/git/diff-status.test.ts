// Diff statuses as users see them: marked stale by the chat's own git, published on two servers that share a database
// and Redis, polled by one of them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ManualClock } from "../../agent/manual-clock.js";
import { type ApiClient, Follower } from "../../support/clients/api-client.js";
import { connectHost } from "../../support/git/git-deployment.js";
import { startGitHubShaped } from "../../support/git/github-shaped.js";
import { ListFollower } from "../../support/clients/list-follower.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";
import { greeterProject, type ShapedHost } from "../../support/git/git-host-server.js";
import { type StagedModel, startStagedModel } from "../../support/models/staged-model.js";
import { DIFF_STATUS_FIELDS, Transcript } from "../../support/clients/transcript.js";

let redis: TestRedis;
let host: ShapedHost;
let model: StagedModel;
let environment: TestEnvironment;
let here: TestParley;
let there: TestParley;
/** Two chats: one worked on the branch `hello`, the other did not use git. */
let chatId: string;
let sibling: string;
beforeAll(async () => {
  if (!hasRedis) return;
  [redis, host, model, environment] = await Promise.all([
    startRedis(),
    startGitHubShaped(),
    startStagedModel(),
    createTestEnvironment(),
  ]);
  here = await environment.start(settings());
  there = await environment.start({ ...settings(), PARLEY_ROLE: "api" });
  host.projects.set("ada/greeter", greeterProject());
  await connectHost(here.api, host.host, "token-of-ada");
});
afterAll(async () => {
  if (!hasRedis) return;
  await environment.remove();
  await Promise.all([redis.stop(), host.close(), model.close()]);
});

const settings = () => ({
  REDIS_URL: redis.url,
  PARLEY_GIT_HOSTS_PRIVATE_NETWORK: "on",
  ...model.settings,
});

async function run(api: ApiClient, command: string): Promise<string> {
  const call = { id: "call_1", name: "execute", arguments: { command, timeout: "80s" } };
  model.cast(`please ${command}`, [{ toolCalls: [call] }, { text: "Done." }]);
  const made = await api.createChat(`please ${command}`);
  const follower = api.follow(made);
  await follower.untilStatus("WAITING", "ERROR");
  await follower.close();
  return made;
}

async function followList(api: ApiClient, from?: ListFollower): Promise<ListFollower> {
  const list = new ListFollower(api, from);
  await list.until(({ story }) => story.some((word) => word.startsWith("caught-up")));
  return list;
}

async function statusOf(api: ApiClient, id: string): Promise<unknown> {
  const query = `query ($id: ID!) { chat(id: $id) { diffStatus { refreshedAt ${DIFF_STATUS_FIELDS} } } }`;
  return (await api.get<{ chat: { diffStatus: unknown } }>(query, { id })).chat.diffStatus;
}

type Refreshed = {
  diffStatus: object | null;
  userErrors: { code: string; message: string; path: string[] }[];
};
const refresh = (api: ApiClient, id: string) =>
  api.change<Refreshed>("refreshChatDiff", { chatId: id }, `diffStatus { ${DIFF_STATUS_FIELDS} }`);

const NUMBERS = { additions: 3, deletions: 1, changedFiles: 2 };
const pulled = (more: object = {}) => ({
  ...{ ...NUMBERS, url: `${host.host}/ada/greeter/pull/7`, headBranch: "hello", baseBranch: "main" },
  ...{ isStale: false },
  pullRequest: {
    ...{ number: 7, title: "Say hello", state: "OPEN", isDraft: false, hasChangesRequested: false },
    ...{ authorLogin: "ada", ...more },
  },
});

describe.skipIf(!hasRedis)("two servers with Redis between them", () => {
  test("a chat whose git accesses the host is marked as stale, and only that chat", async () => {
    const list = await followList(there.api);
    sibling = await run(here.api, "git status");
    const origin = host.originOf("ada/greeter");
    chatId = await run(
      here.api,
      `git checkout -b hello; git remote add origin ${origin}; git fetch origin; true`,
    );
    await list.until(({ branches }) => branches.length > 0);
    expect(list.branches[0]).toMatchObject({ chatId, branch: { headBranch: "hello", isStale: true } });
    expect(list.branches.every((it) => it.chatId === chatId)).toBe(true);
    expect(await statusOf(there.api, sibling)).toBe(null);
    await list.close();
  });

  test("a refresh on one server is published on the other, in the chat and in the list", async () => {
    await refresh(here.api, chatId);
    const [list, follower] = [await followList(there.api), there.api.follow(chatId)];
    await follower.until(({ isCaughtUp }) => isCaughtUp);
    host.open("ada/greeter", { number: 7, branch: "hello" });
    expect(await refresh(here.api, chatId)).toEqual({ diffStatus: pulled(), userErrors: [] });
    await follower.until(({ diffStatus }) => diffStatus?.pullRequest !== null && diffStatus !== null);
    expect(follower.transcript.diffStatus).toEqual(pulled());
    await list.until(({ branches }) => branches.at(-1)?.branch?.pullRequest?.number === 7);
    expect(await statusOf(there.api, chatId)).toEqual({
      ...pulled(),
      refreshedAt: expect.any(String) as string,
    });
    const before = follower.transcript.log.length;
    // Nothing visible has changed, so the next event is the title's.
    await refresh(here.api, chatId);
    await here.api.change("updateChat", { chatId, title: "Hello" }, "chat { id }");
    await follower.until(({ title }) => title === "Hello");
    expect(follower.transcript.log.slice(before)).toEqual(["title"]);
    expect(follower.transcript.breaches).toEqual([]);
    await Promise.all([list.close(), follower.close()]);
  });

  test("a resumed subscription delivers missed changes once", async () => {
    const [list, follower] = [await followList(there.api), there.api.follow(chatId)];
    await follower.until(({ isCaughtUp }) => isCaughtUp);
    await Promise.all([list.close(), follower.close()]);
    const [pull] = host.projects.get("ada/greeter")?.pulls ?? [];
    pull?.reviews.push({ reviewer: "bob", state: "CHANGES_REQUESTED" });
    await refresh(here.api, chatId);
    Object.assign(pull ?? {}, { isDraft: true });
    await refresh(there.api, chatId);
    const changed = pulled({ hasChangesRequested: true, isDraft: true });
    const returned = new Follower(here.api, chatId, new Transcript(follower.transcript.cursor));
    await returned.until(({ isCaughtUp }) => isCaughtUp);
    expect(returned.transcript.log).toEqual(["diff-status", "caught-up"]);
    expect(returned.transcript.diffStatus).toEqual(changed);
    // Both are in the list's log; each is delivered in its current state.
    const again = await followList(here.api, list);
    const { isDraft: _, title: __, authorLogin: ___, ...listed } = changed.pullRequest;
    const branch = { additions: 3, headBranch: "hello", isStale: false, pullRequest: listed };
    expect(again.branches).toEqual([
      { chatId, branch },
      { chatId, branch },
    ]);
    const third = new Follower(there.api, chatId, new Transcript(returned.transcript.cursor));
    await third.until(({ isCaughtUp }) => isCaughtUp);
    expect(third.transcript.log).toEqual(["caught-up"]);
    await Promise.all([again.close(), returned.close(), third.close()]);
  });

  test("the diff is returned, and failures to fetch it are reported", async () => {
    const query = "query ($id: ID!) { chat(id: $id) { diff { remoteOrigin branch unified isTruncated } } }";
    const diffOf = async (id: string) =>
      (await there.api.get<{ chat: { diff: object | null } }>(query, { id })).chat.diff;
    expect(await diffOf(chatId)).toEqual({
      ...{ remoteOrigin: host.originOf("ada/greeter"), branch: "hello", isTruncated: false },
      unified: expect.stringContaining("+++ b/hello.txt") as string,
    });
    expect(await diffOf(sibling)).toBe(null);
    const errors = async (id: string) =>
      (await refresh(here.api, id)).userErrors.map(({ code, path }) => [code, path]);
    expect(await errors(sibling)).toEqual([["INVALID", ["chatId"]]]);
    host.failing = { status: 500, body: "oh" };
    expect(await errors(chatId)).toEqual([["UNAVAILABLE", ["chatId"]]]);
    host.failing = null;
    expect(await refresh(here.api, chatId)).toMatchObject({ userErrors: [] });
    const stranger = await here.addUser("stranger");
    expect((await refresh(stranger, chatId)).userErrors).toMatchObject([{ code: "NOT_FOUND" }]);
  });

  test("of two servers that poll at the same time one asks the host, and both publish", async () => {
    await Promise.all([here.close(), there.close()]);
    const clocks = [new ManualClock(), new ManualClock()] as const;
    const [one, two] = [
      await environment.start(settings(), clocks[0]),
      await environment.start(settings(), clocks[1]),
    ];
    const [list, follower] = [await followList(one.api), two.api.follow(chatId)];
    await follower.until(({ isCaughtUp }) => isCaughtUp);
    const [pull] = host.projects.get("ada/greeter")?.pulls ?? [];
    Object.assign(pull ?? {}, { state: "merged" });
    host.asked.length = 0;
    await environment.database.dataSource.query("UPDATE chat_diff_statuses SET stale_at = now()");
    for (const clock of clocks) clock.advance(10_000);
    await follower.until(({ diffStatus }) => diffStatus?.pullRequest?.state === "MERGED");
    await list.until(({ branches }) => branches.at(-1)?.branch?.pullRequest?.state === "MERGED");
    expect(host.asked.filter((it) => it.endsWith("/pulls/7"))).toHaveLength(1);
    expect(list.branches).toHaveLength(1);
    const { viewer } = await one.api.get<{ viewer: { gitHostAccounts: { login: string | null }[] } }>(
      "{ viewer { gitHostAccounts { login } } }",
    );
    expect(viewer.gitHostAccounts).toMatchObject([{ login: expect.toBeOneOf(["ada", null]) as string }]);
    await Promise.all([list.close(), follower.close()]);
  });
});
