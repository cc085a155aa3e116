// Revoking rights on one server closes streams on another immediately, through Redis.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiClient } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";
import { StreamFollower } from "../../support/clients/stream-follower.js";

describe.skipIf(!hasRedis)("with two servers that share a Redis", () => {
  let redis: TestRedis;
  let environment: TestEnvironment;
  let one: TestParley;
  let two: TestParley;
  beforeAll(async () => {
    [redis, environment] = await Promise.all([startRedis(), createTestEnvironment()]);
    one = await environment.start({ REDIS_URL: redis.url });
    two = await environment.start({ REDIS_URL: redis.url, PARLEY_ROLE: "api" });
  });
  afterAll(async () => {
    await environment.remove();
    await redis.stop();
  });

  const at = (server: TestParley, { token }: ApiClient) => new ApiClient(server.api.url, token);

  async function restingChat(api: ApiClient): Promise<string> {
    const { chatId, follower } = await api.quietChat();
    await follower.close();
    return chatId;
  }

  /** Followers of the chat over a WebSocket and an event stream of that server, both caught up. */
  async function followBoth(api: ApiClient, chatId: string) {
    const socket = await at(two, api).followFromNow(chatId);
    const stream = await StreamFollower.open(at(two, api), chatId);
    await stream.until(({ isCaughtUp }) => isCaughtUp);
    return { socket, stream };
  }

  async function userIdOf(api: ApiClient): Promise<string> {
    return (await api.get<{ viewer: { user: { id: string } } }>("{ viewer { user { id } } }")).viewer.user.id;
  }

  test("a token revoked on one loses its WebSocket and event stream on the other, and its requests are refused", async () => {
    const ada = await one.addUser("ada");
    const chatId = await restingChat(ada);
    type Made = { token: { id: string }; secret: string };
    const { token, secret } = await ada.change<Made>(
      "createApiToken",
      { name: "tab" },
      "token { id } secret",
    );
    const tab = new ApiClient(two.api.url, secret);
    const { socket, stream } = await followBoth(tab, chatId);
    const remaining = await followBoth(ada, chatId);
    await ada.change("revokeApiToken", { tokenId: token.id }, "deletedId");
    expect(await socket.ended).toMatchObject({ code: 4403 });
    await stream.untilEnd();
    expect((await tab.ask("{ viewer { permissions } }")).status).toBe(401);
    // Streams opened with another token of the same user continue.
    const renamed = remaining.socket.until(({ log }) => log.includes("title"));
    await ada.change("updateChat", { chatId, title: "Other" }, "chat { id }");
    await renamed;
    await remaining.socket.close();
    remaining.stream.stream.leave();
  });

  test("a user deactivated on one loses access to the other", async () => {
    const leaver = await one.addUser("leaver");
    const { socket, stream } = await followBoth(leaver, await restingChat(leaver));
    await one.api.change("deactivateUser", { userId: await userIdOf(leaver) }, "user { id }");
    expect(await socket.ended).toMatchObject({ code: 4403 });
    await stream.untilEnd();
    expect((await at(two, leaver).ask("{ viewer { permissions } }")).status).toBe(401);
  });

  test("an admin demoted on one no longer receives other users' chats on the other, and keeps their own", async () => {
    const [owner, boss] = [await one.addUser("owner"), await one.addUser("boss", "admin")];
    const [others, own] = [await restingChat(owner), await restingChat(boss)];
    const lost = await followBoth(boss, others);
    const remaining = await at(two, boss).followFromNow(own);
    await one.api.change("setUserRole", { userId: await userIdOf(boss), role: "MEMBER" }, "user { id }");
    expect(await lost.socket.ended).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
    await lost.stream.untilEnd();
    expect(lost.stream.errors).toEqual(["FORBIDDEN"]);
    const renamed = remaining.until(({ log }) => log.includes("title"));
    await at(one, boss).change("updateChat", { chatId: own, title: "Mine" }, "chat { id }");
    await renamed;
    await remaining.close();
  });
});
