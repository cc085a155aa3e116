// Events between replicas through a real Redis, which is killed and restarted.
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { CONFIG_TOPICS } from "../../src/domain/common/config-topic.js";
import type { LiveBatch, MessageDelta, SavedChange } from "../../src/domain/chats/chat-events.js";
import { initialState } from "../../src/domain/chats/chat-lifecycle.js";
import { RedisBus } from "../../src/events/bus/redis-bus.js";
import { CONFIG_CHANGES_TOPIC, WAKE_TOPIC } from "../../src/events/bus/redis-envelope.js";
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

function changeTo(snapshotVersion: number, chatId = CHAT): SavedChange {
  const state = { ...initialState("A chat"), snapshotVersion };
  return { chatId, ownerId: "ada", previousVersion: snapshotVersion - 1, state, messages: [] };
}

function batch(sequence: number, append: string, attempt = 1): LiveBatch {
  const generation = { historyVersion: 1, attempt };
  const delta = { type: "text-delta" as const, append };
  return { chatId: CHAT, generation, deltas: [{ sequence, role: "assistant", partIndex: 0, delta }] };
}

/** Collects what a listener receives, one short description each. */
async function listen(bus: RedisBus, chatId = CHAT): Promise<{ received: string[]; detach: () => void }> {
  const received: string[] = [];
  const detach = await bus.subscribeChat(chatId, {
    saved: ({ state }) => received.push(`saved ${state.snapshotVersion}`),
    live: ({ deltas }) => received.push(...deltas.map(({ sequence }) => `delta ${sequence}`)),
  });
  return { received, detach };
}

async function topics(): Promise<string[]> {
  const client = createClient({ url: redis.url });
  await client.connect();
  const found = [...(await client.pubSubShardChannels()), ...(await client.pubSubChannels())];
  await client.close();
  return found.filter((name) => name !== WAKE_TOPIC && name !== CONFIG_CHANGES_TOPIC);
}

describe.skipIf(!hasRedis)("with a Redis", () => {
  test("commits and deltas reach the listeners of every replica once, in order, local ones without Redis", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const own = await listen(here);
    const others = [await listen(there), await listen(there)];
    const elsewhere = await listen(there, OTHER);
    here.publishSaved(changeTo(2));
    here.publishLive(batch(1, "a"));
    here.publishLive(batch(2, "b"));
    here.publishSaved(changeTo(3));
    const all = ["saved 2", "delta 1", "delta 2", "saved 3"];
    expect(own.received).toEqual(all);
    await eventually(() => expect(others.map(({ received }) => received)).toEqual([all, all]));
    here.publishSaved(changeTo(9, OTHER));
    await eventually(() => expect(elsewhere.received).toEqual(["saved 9"]));
    expect(own.received).toEqual(all);
  });

  test("a late subscriber on another replica reads the deltas so far", async () => {
    const [writer, reader] = await Promise.all([connect(), connect()]);
    writer.publishLive(batch(1, "once ", 7));
    writer.publishLive(batch(2, "upon \u0000 \uD83D\uDE00", 7));
    const generation = { historyVersion: 1, attempt: 7 };
    await eventually(async () => {
      const logged = await reader.readDeltas(CHAT, generation);
      expect(logged?.deltas.map(({ sequence, delta }) => [sequence, delta])).toEqual([
        [1, { type: "text-delta", append: "once " }],
        [2, { type: "text-delta", append: "upon \u0000 \uD83D\uDE00" }],
      ]);
    });
    expect(await reader.readDeltas(CHAT, { historyVersion: 1, attempt: 8 })).toBeNull();
  });

  test("the log retains the newest tool output, records what it dropped, and drops output that has a result", async () => {
    const [writer, reader] = await Promise.all([connect(), connect()]);
    const generation = { historyVersion: 1, attempt: 12 };
    const publish = (sequence: number, partIndex: number, delta: MessageDelta) =>
      writer.publishLive({
        chatId: CHAT,
        generation,
        deltas: [{ sequence, role: "tool", partIndex, delta }],
      });
    const print = (sequence: number, partIndex: number, append: string) =>
      publish(sequence, partIndex, { type: "tool-output-delta", toolCallId: `call_${partIndex}`, append });
    const part = { type: "tool-result" as const, toolCallId: "call_1", toolName: "execute", isError: false };
    for (let sequence = 1; sequence <= 20; sequence += 1) {
      print(sequence, 0, "x".repeat(10_000));
      // Waits until the entry's id is known, so that it can be dropped.
      await eventually(async () => {
        expect((await reader.readDeltas(CHAT, generation))?.deltas.at(-1)?.sequence).toBe(sequence);
      });
    }
    print(21, 1, "one");
    print(22, 0, "\u0000end");
    await eventually(async () => {
      expect((await reader.readDeltas(CHAT, generation))?.deltas.at(-1)?.sequence).toBe(22);
    });
    publish(23, 1, { ...part, result: "all" });
    await eventually(async () => {
      for (const bus of [reader, writer]) {
        const logged = await bus.readDeltas(CHAT, generation);
        expect([logged?.isCut, logged?.droppedUpTo, logged?.deltas.map(({ sequence }) => sequence)]).toEqual([
          false,
          21,
          [15, 16, 17, 18, 19, 20, 22, 23],
        ]);
        expect(logged?.deltas[0]?.delta).toMatchObject({
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
      const logged = await reader.readDeltas(CHAT, generation);
      expect([logged?.deltas.length, logged?.isCut]).toEqual([4, true]);
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

  test("a configuration change is received on every replica, synchronously on the one that made it", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const received: string[] = [];
    here.onConfigChange((topic) => received.push(`here ${topic}`));
    there.onConfigChange((topic) => received.push(`there ${topic}`));
    here.publishConfigChange("mcp-servers");
    expect(received).toEqual(["here mcp-servers"]);
    await eventually(() => expect(received).toEqual(["here mcp-servers", "there mcp-servers"]));
  });

  test("messages that are not valid envelopes are skipped", async () => {
    const bus = await connect();
    const { received } = await listen(bus);
    const client = createClient({ url: redis.url });
    await client.connect();
    const topic = `parley:{${CHAT}}:news`;
    for (const text of ["", "null", "{}", '{"type":"saved"}', '{"type":"poem","origin":"x"}']) {
      await client.sPublish(topic, text);
    }
    await client.sPublish(topic, JSON.stringify({ origin: "another", type: "saved", news: changeTo(5) }));
    await eventually(() => expect(received).toEqual(["saved 5"]));
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
  test("local listeners still receive events, nothing waits, and all events arrive again when it is back", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const [own, other] = [await listen(here), await listen(there)];
    const returns: string[] = [];
    there.onReconnect(() => returns.push("there"));
    await redis.kill();
    await eventually(() => expect([here.isConnected, there.isConnected]).toEqual([false, false]));
    here.publishSaved(changeTo(2));
    here.publishLive(batch(1, "a", 11));
    expect(own.received).toEqual(["saved 2", "delta 1"]);
    const late = await listen(there, OTHER);
    expect(await there.readDeltas(CHAT, { historyVersion: 1, attempt: 11 })).toBeNull();
    const setUp: string[] = [];
    there.onConfigChange((topic) => setUp.push(topic));
    here.publishConfigChange("models");
    await redis.restart();
    await eventually(() => expect(returns).toEqual(["there"]));
    // Any of these may have been missed meanwhile.
    expect(setUp).toEqual([...CONFIG_TOPICS]);
    await eventually(() => expect(here.isConnected).toBe(true));
    here.publishSaved(changeTo(3));
    here.publishSaved(changeTo(4, OTHER));
    await eventually(() => expect([other.received, late.received]).toEqual([["saved 3"], ["saved 4"]]));
  });

  test("a server that starts meanwhile is ready after a bounded wait, and connects to the others later", async () => {
    await redis.kill();
    const bus = await connect();
    expect(bus.isConnected).toBe(false);
    const { received } = await listen(bus);
    await redis.restart();
    await eventually(() => expect(bus.isConnected).toBe(true));
    const other = await connect();
    await eventually(() => {
      other.publishSaved(changeTo(6));
      expect(received).toContain("saved 6");
    });
  });
});
