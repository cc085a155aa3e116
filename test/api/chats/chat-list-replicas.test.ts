// A user's sidebar on one server, their chat open on another, and turns run by a third; with Redis and without.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiClient } from "../../support/clients/api-client.js";
import { ListFollower, readList } from "../../support/clients/list-follower.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";

let redis: TestRedis;
let environment: TestEnvironment;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});
beforeEach(async () => {
  environment = await createTestEnvironment();
});
afterEach(() => environment.remove());

const isOpen = ({ story }: ListFollower) => story.some((word) => word.startsWith("caught-up"));

async function follow(api: ApiClient, from?: ListFollower): Promise<ListFollower> {
  const list = new ListFollower(api, from);
  await list.until(isOpen);
  return list;
}

describe.skipIf(!hasRedis)("with Redis", () => {
  let replicas: TestParley[];
  beforeEach(async () => {
    const settings = { REDIS_URL: redis.url };
    replicas = [
      await environment.start({ ...settings, PARLEY_ROLE: "api" }),
      await environment.start({ ...settings, PARLEY_ROLE: "api" }),
    ];
    await environment.start({ ...settings, PARLEY_ROLE: "worker" });
  });

  test("both servers deliver the same chat list, and resuming on the other one needs no refresh", async () => {
    const [here, there] = replicas.map(({ api }) => api) as [ApiClient, ApiClient];
    const [first, second] = [await follow(here), await follow(there)];
    const chatId = await there.createChat("[[demo: deltas=2]]");
    for (const list of [first, second]) await list.until(({ rows }) => rows.get(chatId)?.isUnread === true);
    expect(first.story).toEqual(second.story);
    expect(first.story.slice(2)).toEqual(["created", "RUNNING", "WAITING unread"]);
    await first.close();
    await here.change("updateChat", { chatId, title: "Meanwhile" }, "chat { id }");
    await second.until(({ story }) => story.at(-1) === "title Meanwhile");
    const returned = await follow(there, first);
    expect(returned.story).toEqual(["title Meanwhile", "caught-up 1"]);
    await returned.close();
    await second.close();
  });

  test("a chat followed on one server ends up read in the sidebar of the other", async () => {
    const [here, there] = replicas.map(({ api }) => api) as [ApiClient, ApiClient];
    const { chatId, follower } = await there.quietChat();
    const list = await follow(here);
    await there.send(chatId, "[[demo: deltas=3]]");
    await follower.untilStatus("WAITING");
    await list.until(({ story }) => story.at(-1) === "WAITING" || story.at(-1) === "WAITING unread");
    await list.until(({ rows, story }) => story.includes("RUNNING") && rows.get(chatId)?.isUnread === false);
    await follower.close();
    await list.untilTrue();
    expect((await readList(here)).get(chatId)?.isUnread).toBe(false);
    await list.close();
  });
});

describe("without Redis", () => {
  test("another server's changes arrive within two polls, and a restart causes a refresh", async () => {
    const [here, there] = [await environment.start(), await environment.start({ PARLEY_ROLE: "api" })];
    const list = await follow(there.api);
    const chatId = await here.api.createChat("[[demo: deltas=1]]");
    await list.until(({ rows }) => rows.get(chatId)?.status === "WAITING");
    expect(new Set(list.story.slice(2))).toEqual(new Set(["refresh CURSOR_TOO_OLD"]));
    await there.close();
    await list.close();
    const restarted = await environment.start({ PARLEY_ROLE: "api" });
    const returned = await follow(restarted.api, list);
    expect(returned.story).toEqual(["refresh CURSOR_TOO_OLD", "caught-up 0"]);
    await returned.close();
  });
});
