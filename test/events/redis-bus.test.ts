// News between replicas through a real Redis, which is killed and restarted.
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { CONFIG_TOPICS } from "../../src/domain/common/config-topic.js";
import type { LiveBatch, Piece, SavedNews } from "../../src/domain/chats/chat-events.js";
import { createdState } from "../../src/domain/chats/chat-lifecycle.js";
import { RedisBus } from "../../src/events/bus/redis-bus.js";
import { SETUP_TOPIC, WAKE_TOPIC } from "../../src/events/bus/redis-envelope.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { hasRedis, startRedis, type TestRedis } from "../support/network/redis.js";
import { eventually } from "../support/eventually.js";

const CHAT = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";

let redis: TestRedis;
const buses: RedisBus[] = [];
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});
afterEach(async () => {
  await Promise.all(buses.splice(0).map((bus) => bus.close()));
});

async function connect(): Promise<RedisBus> {
  const bus = await RedisBus.connect({ url: redis.url, log: createLog("silent"), clock: systemClock });
  buses.push(bus);
  return bus;
}

function news(snapshotVersion: number, chatId = CHAT): SavedNews {
  const state = { ...createdState("A chat"), snapshotVersion };
  return { chatId, ownerId: "ada", previousVersion: snapshotVersion - 1, state, messages: [] };
}

function batch(sequence: number, append: string, attempt = 1): LiveBatch {
  const generation = { historyVersion: 1, attempt };
  const piece = { type: "text-delta" as const, append };
  return { chatId: CHAT, generation, pieces: [{ sequence, role: "assistant", partIndex: 0, piece }] };
}

/** What a listener hears, in words. */
async function listen(bus: RedisBus, chatId = CHAT): Promise<{ heard: string[]; detach: () => void }> {
  const heard: string[] = [];
  const detach = await bus.subscribeChat(chatId, {
    saved: ({ state }) => heard.push(`saved ${state.snapshotVersion}`),
    live: ({ pieces }) => heard.push(...pieces.map(({ sequence }) => `piece ${sequence}`)),
  });
  return { heard, detach };
}

async function topics(): Promise<string[]> {
  const client = createClient({ url: redis.url });
  await client.connect();
  const found = [...(await client.pubSubShardChannels()), ...(await client.pubSubChannels())];
  await client.close();
  return found.filter((name) => name !== WAKE_TOPIC && name !== SETUP_TOPIC);
}

describe.skipIf(!hasRedis)("with a Redis", () => {
  test("news of a commit and pieces reach listeners of every replica once, in order, the own ones without Redis", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const own = await listen(here);
    const others = [await listen(there), await listen(there)];
    const elsewhere = await listen(there, OTHER);
    here.publishSaved(news(2));
    here.publishLive(batch(1, "a"));
    here.publishLive(batch(2, "b"));
    here.publishSaved(news(3));
    const all = ["saved 2", "piece 1", "piece 2", "saved 3"];
    expect(own.heard).toEqual(all);
    await eventually(() => expect(others.map(({ heard }) => heard)).toEqual([all, all]));
    here.publishSaved(news(9, OTHER));
    await eventually(() => expect(elsewhere.heard).toEqual(["saved 9"]));
    expect(own.heard).toEqual(all);
  });

  test("who comes late on another replica reads the pieces so far", async () => {
    const [writer, reader] = await Promise.all([connect(), connect()]);
    writer.publishLive(batch(1, "once ", 7));
    writer.publishLive(batch(2, "upon \u0000 \uD83D\uDE00", 7));
    const generation = { historyVersion: 1, attempt: 7 };
    await eventually(async () => {
      const logged = await reader.readPieces(CHAT, generation);
      expect(logged?.pieces.map(({ sequence, piece }) => [sequence, piece])).toEqual([
        [1, { type: "text-delta", append: "once " }],
        [2, { type: "text-delta", append: "upon \u0000 \uD83D\uDE00" }],
      ]);
    });
    expect(await reader.readPieces(CHAT, { historyVersion: 1, attempt: 8 })).toBeNull();
  });

  test("of what running tools say the log keeps the newest, says what it dropped, and keeps nothing beside a result", async () => {
    const [writer, reader] = await Promise.all([connect(), connect()]);
    const generation = { historyVersion: 1, attempt: 12 };
    const publish = (sequence: number, partIndex: number, piece: Piece) =>
      writer.publishLive({
        chatId: CHAT,
        generation,
        pieces: [{ sequence, role: "tool", partIndex, piece }],
      });
    const says = (sequence: number, partIndex: number, append: string) =>
      publish(sequence, partIndex, { type: "tool-output-delta", toolCallId: `call_${partIndex}`, append });
    const part = { type: "tool-result" as const, toolCallId: "call_1", toolName: "execute", isError: false };
    for (let sequence = 1; sequence <= 20; sequence += 1) {
      says(sequence, 0, "x".repeat(10_000));
      // So that the number of each entry is known when it is to go.
      await eventually(async () => {
        expect((await reader.readPieces(CHAT, generation))?.pieces.at(-1)?.sequence).toBe(sequence);
      });
    }
    says(21, 1, "one");
    says(22, 0, "\u0000end");
    await eventually(async () => {
      expect((await reader.readPieces(CHAT, generation))?.pieces.at(-1)?.sequence).toBe(22);
    });
    publish(23, 1, { ...part, result: "all" });
    await eventually(async () => {
      for (const bus of [reader, writer]) {
        const logged = await bus.readPieces(CHAT, generation);
        expect([logged?.isCut, logged?.droppedUpTo, logged?.pieces.map(({ sequence }) => sequence)]).toEqual([
          false,
          21,
          [15, 16, 17, 18, 19, 20, 22, 23],
        ]);
        expect(logged?.pieces[0]?.piece).toMatchObject({
          append: `... [earlier output left out] ...\n${"x".repeat(10_000)}`,
        });
      }
    });
  });

  test("a generation's log is cut at its bound, and expires", async () => {
    const [writer, reader] = await Promise.all([connect(), connect()]);
    for (let sequence = 1; sequence <= 6; sequence += 1)
      writer.publishLive(batch(sequence, "x".repeat(1_000_000), 9));
    const generation = { historyVersion: 1, attempt: 9 };
    await eventually(async () => {
      const logged = await reader.readPieces(CHAT, generation);
      expect([logged?.pieces.length, logged?.isCut]).toEqual([4, true]);
    });
    const client = createClient({ url: redis.url });
    await client.connect();
    const keys = await client.keys("parley:*pieces:1.9");
    expect(keys).toHaveLength(1);
    expect(await client.pTTL(keys[0] ?? "")).toBeGreaterThan(0);
    await client.close();
  });

  test("workers of every replica are woken", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const woken: string[] = [];
    here.onWake(() => woken.push("here"));
    there.onWake(() => woken.push("there"));
    here.wakeWorkers();
    await eventually(() => expect(woken.sort()).toEqual(["here", "there"]));
  });

  test("what is set up anew is heard on every replica, on the one where it happened before anything else does", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const heard: string[] = [];
    here.onConfigChange((topic) => heard.push(`here ${topic}`));
    there.onConfigChange((topic) => heard.push(`there ${topic}`));
    here.publishConfigChange("mcp-servers");
    expect(heard).toEqual(["here mcp-servers"]);
    await eventually(() => expect(heard).toEqual(["here mcp-servers", "there mcp-servers"]));
  });

  test("what is no news of ours is passed over", async () => {
    const bus = await connect();
    const { heard } = await listen(bus);
    const client = createClient({ url: redis.url });
    await client.connect();
    const topic = `parley:{${CHAT}}:news`;
    for (const text of ["", "null", "{}", '{"type":"saved"}', '{"type":"poem","origin":"x"}']) {
      await client.sPublish(topic, text);
    }
    await client.sPublish(topic, JSON.stringify({ origin: "another", type: "saved", news: news(5) }));
    await eventually(() => expect(heard).toEqual(["saved 5"]));
    await client.close();
  });

  test("a thousand listeners that come and go leave no subscription", async () => {
    const bus = await connect();
    for (let round = 0; round < 50; round += 1) {
      const chats = Array.from({ length: 20 }, (_, index) => `${round}-${index}`);
      const listeners = await Promise.all(chats.map((chatId) => listen(bus, chatId)));
      for (const { detach } of listeners) detach();
      for (const { detach } of listeners) detach();
    }
    await eventually(async () => expect(await topics()).toEqual([]));
  });
});

describe.skipIf(!hasRedis)("when Redis goes away", () => {
  test("this replica's listeners hear on, nothing waits, and all is heard again when it is back", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const [own, other] = [await listen(here), await listen(there)];
    const returns: string[] = [];
    there.onReturn(() => returns.push("there"));
    await redis.kill();
    await eventually(() => expect([here.isConnected, there.isConnected]).toEqual([false, false]));
    here.publishSaved(news(2));
    here.publishLive(batch(1, "a", 11));
    expect(own.heard).toEqual(["saved 2", "piece 1"]);
    const late = await listen(there, OTHER);
    expect(await there.readPieces(CHAT, { historyVersion: 1, attempt: 11 })).toBeNull();
    const setUp: string[] = [];
    there.onConfigChange((topic) => setUp.push(topic));
    here.publishConfigChange("models");
    await redis.restart();
    await eventually(() => expect(returns).toEqual(["there"]));
    // Whatever it was that could not be heard meanwhile.
    expect(setUp).toEqual([...CONFIG_TOPICS]);
    await eventually(() => expect(here.isConnected).toBe(true));
    here.publishSaved(news(3));
    here.publishSaved(news(4, OTHER));
    await eventually(() => expect([other.heard, late.heard]).toEqual([["saved 3"], ["saved 4"]]));
  });

  test("a server that starts meanwhile is up after a bounded wait, and joins the others later", async () => {
    await redis.kill();
    const bus = await connect();
    expect(bus.isConnected).toBe(false);
    const { heard } = await listen(bus);
    await redis.restart();
    await eventually(() => expect(bus.isConnected).toBe(true));
    const other = await connect();
    await eventually(() => {
      other.publishSaved(news(6));
      expect(heard).toContain("saved 6");
    });
  });
});
