// Deltas that are lost on the way to another replica are read from their Redis log before their message is sent; where
// the log does not have them all, the preview is reset.
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LiveBatch } from "../../src/domain/chats/chat-events.js";
import { ChatHub } from "../../src/events/chats/chat-hub.js";
import { RedisBus } from "../../src/events/bus/redis-bus.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../agent/manual-clock.js";
import { hasRedis, startRedis, type TestRedis } from "../support/network/redis.js";
import { opening } from "./hub-fixture.js";
import { follow, Transcript } from "./transcript.js";
import { CHAT_ID, ChatWorld, viewer } from "./world.js";
import { eventually } from "../support/eventually.js";

const log = createLog("silent");
let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

/** A chat that runs on one replica and is followed on another, over a bus that may lose deltas. */
class TwoReplicas {
  /** Whether a batch is lost. */
  isLost = (_batch: LiveBatch) => false;
  readonly clock = new ManualClock();

  private constructor(
    readonly world: ChatWorld,
    private readonly buses: RedisBus[],
    there: RedisBus,
  ) {
    const subscribe = there.subscribeChat.bind(there);
    there.subscribeChat = (chatId, listener) =>
      subscribe(chatId, {
        saved: (change) => listener.saved(change),
        live: (batch) => this.isLost(batch) || listener.live(batch),
      });
    this.hub = new ChatHub({ source: world, bus: there, clock: this.clock, log });
  }

  readonly hub: ChatHub;

  static async open(): Promise<TwoReplicas> {
    const connect = () => RedisBus.connect({ url: redis.url, log, clock: systemClock });
    const [here, there] = await Promise.all([connect(), connect()]);
    const world = new ChatWorld(here);
    world.start();
    return new TwoReplicas(world, [here, there], there);
  }

  async read(): Promise<Transcript> {
    const stream = await this.hub.subscribe(viewer, CHAT_ID, null);
    if (!stream) throw new Error("chat not found");
    const transcript = new Transcript(this.world, null);
    follow(stream, transcript);
    await expectEventLog(transcript, opening);
    return transcript;
  }

  /** Commits an answer without ending the turn. */
  commit(text: string, options: { isPublished?: boolean } = {}): void {
    const { world } = this;
    const messages = [world.answer(text)];
    world.run([{ type: "commit-step", fence: world.fence, messages, openCalls: [] }], options);
  }

  async close(): Promise<void> {
    await this.hub.close();
    await Promise.all(this.buses.map((bus) => bus.close()));
  }
}

const expectEventLog = (transcript: Transcript, expected: string[]) =>
  eventually(() => expect(transcript.eventLog).toEqual(expected));

const createRedisClient = () => createClient({ url: redis.url });

async function withRedis(
  work: (client: ReturnType<typeof createRedisClient>) => Promise<unknown>,
): Promise<void> {
  const client = createRedisClient();
  await client.connect();
  await work(client);
  await client.close();
}

describe.skipIf(!hasRedis)("with a Redis", () => {
  let replicas: TwoReplicas;
  beforeEach(async () => {
    await withRedis((client) => client.flushAll());
    replicas = await TwoReplicas.open();
  });
  afterEach(() => replicas.close());

  test("the last deltas are sent before their message when they were lost", async () => {
    const { world } = replicas;
    const reader = await replicas.read();
    world.write("Hel");
    await expectEventLog(reader, [...opening, "part Hel"]);
    replicas.isLost = () => true;
    world.write("lo");
    replicas.commit("Hello");
    await expectEventLog(reader, [...opening, "part Hel", "part lo", "message assistant"]);
  });

  test("the last deltas are sent before their message when its event was lost too", async () => {
    const { world } = replicas;
    const reader = await replicas.read();
    world.write("Hel");
    await expectEventLog(reader, [...opening, "part Hel"]);
    replicas.isLost = () => true;
    world.write("lo");
    replicas.commit("Hello", { isPublished: false });
    world.run([{ type: "finish-turn", fence: world.fence }]);
    await expectEventLog(reader, [...opening, "part Hel", "part lo", "message assistant", "status waiting"]);
  });

  test("a preview whose last deltas are not in the log either is reset before its message", async () => {
    const { world } = replicas;
    const reader = await replicas.read();
    world.write("Hel");
    await expectEventLog(reader, [...opening, "part Hel"]);
    replicas.isLost = () => true;
    world.write("lo");
    await withRedis(async (client) => {
      const [key = ""] = await client.keys("parley:*pieces:*");
      const [last] = (await client.xRevRange(key, "+", "-", { COUNT: 1 })) ?? [];
      await client.xDel(key, last?.id ?? "");
    });
    replicas.commit("Hello");
    await expectEventLog(reader, [...opening, "part Hel", "preview-reset worker_lost", "message assistant"]);
  });

  test("a preview whose log has no end is reset when a database read finds its message", async () => {
    const { world } = replicas;
    const reader = await replicas.read();
    world.write("Hel");
    await expectEventLog(reader, [...opening, "part Hel"]);
    replicas.isLost = () => true;
    world.write("lo");
    replicas.commit("Hello", { isPublished: false });
    replicas.clock.advance(10_000);
    await expectEventLog(reader, [...opening, "part Hel", "preview-reset worker_lost", "message assistant"]);
  });
});
