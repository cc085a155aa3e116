// Streams opened and closed hundreds of times, over both transports of the real server, leave nothing behind.
import { createClient as createRedisClient } from "redis";
import { createClient } from "graphql-ws";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { EventStreamReader } from "../../support/clients/event-stream-reader.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";
import { scaled } from "../../support/scale.js";
import { eventually } from "../../support/eventually.js";

const ROUNDS = scaled(3_000);
/** Takes some seconds on an idle machine. */
const AT_ONCE = 10;
const CHATS = 5;
/** Connection pools keep some timers for a while. One leaked timer per round would make hundreds. */
const MAX_LEFTOVER_TIMERS = 50;
const DOCUMENT = "subscription ($chatId: ID!) { chatEvents(chatId: $chatId) { __typename } }";

let redis: TestRedis;
let environment: TestEnvironment;
let server: TestParley;
let chatIds: string[];
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});
beforeEach(async () => {
  if (!hasRedis) return;
  environment = await createTestEnvironment();
  server = await environment.start({ REDIS_URL: redis.url });
  chatIds = [];
  for (let count = 0; count < CHATS; count += 1) {
    const { chatId, follower } = await server.api.quietChat();
    await follower.close();
    chatIds.push(chatId);
  }
});
afterEach(async () => {
  if (hasRedis) await environment.remove();
});

/** This replica's Redis subscriptions, except those for calls to workers. */
async function topics(): Promise<string[]> {
  const client = createRedisClient({ url: redis.url });
  await client.connect();
  const found = [...(await client.pubSubShardChannels()), ...(await client.pubSubChannels())];
  await client.close();
  return found.filter((name) => !name.includes("wake") && !name.includes("setup"));
}

/** The active timers of this process, including the server's. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

async function inRounds(open: (chatId: string) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS / AT_ONCE; round += 1) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => open(chatIds[index % CHATS] ?? "")));
  }
}

describe.skipIf(!hasRedis)("hundreds of subscriptions that are opened and closed", () => {
  // More rounds than a user's limit of operations, so that leaked slots would be noticed, too.
  test("over a socket leave no Redis subscription and no timer", async () => {
    const client = createClient({
      url: `${server.api.url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { token: server.api.token },
      retryAttempts: 0,
      lazy: false,
    });
    await eventually(async () => expect(await topics()).toEqual([]));
    const before = timers();
    await inRounds(async (chatId) => {
      const events = client.iterate({ query: DOCUMENT, variables: { chatId } });
      const { value } = await events.next();
      expect(value).toEqual({ data: { chatEvents: { __typename: "ChatRefreshEvent" } } });
      await events.return?.();
    });
    await eventually(async () => expect(await topics()).toEqual([]));
    await eventually(() => expect(timers()).toBeLessThan(before + MAX_LEFTOVER_TIMERS));
    await client.dispose();
  });

  test("over event streams leave no Redis subscription and no timer", async () => {
    await eventually(async () => expect(await topics()).toEqual([]));
    const before = timers();
    await inRounds(async (chatId) => {
      const endpoint = { streamUrl: `${server.api.url}/graphql/stream` };
      const request = { token: server.api.token, variables: { chatId } };
      const stream = await EventStreamReader.open(endpoint, DOCUMENT, request);
      const data = { data: { chatEvents: { __typename: "ChatRefreshEvent" } } };
      expect(await stream.next()).toEqual({ event: "next", data });
      stream.leave();
    });
    await eventually(async () => expect(await topics()).toEqual([]));
    await eventually(() => expect(timers()).toBeLessThan(before + MAX_LEFTOVER_TIMERS));
  });
});
