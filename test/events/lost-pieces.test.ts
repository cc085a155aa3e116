// Pieces that are lost on their way to another replica are missed there before their message is told, from Redis' log
// of them; where that does not have them all, the preview is void.
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

/** A chat that runs here and is followed there, by way of a bus that may lose pieces. */
class Distance {
  /** Whether pieces arrive. */
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
        saved: (news) => listener.saved(news),
        live: (batch) => this.isLost(batch) || listener.live(batch),
      });
    this.hub = new ChatHub({ source: world, bus: there, clock: this.clock, log });
  }

  readonly hub: ChatHub;

  static async open(): Promise<Distance> {
    const connect = () => RedisBus.connect({ url: redis.url, log, clock: systemClock });
    const [here, there] = await Promise.all([connect(), connect()]);
    const world = new ChatWorld(here);
    world.start();
    return new Distance(world, [here, there], there);
  }

  async read(): Promise<Transcript> {
    const stream = await this.hub.subscribe(viewer, CHAT_ID, null);
    if (!stream) throw new Error("The chat is not there.");
    const transcript = new Transcript(this.world, null);
    follow(stream, transcript);
    await told(transcript, opening);
    return transcript;
  }

  /** Saves what was written as an answer; the turn goes on. */
  commit(text: string, options: { isTold?: boolean } = {}): void {
    const { world } = this;
    const messages = [world.answer(text)];
    world.run([{ type: "commit-step", fence: world.fence, messages, openCalls: [] }], options);
  }

  async close(): Promise<void> {
    await this.hub.close();
    await Promise.all(this.buses.map((bus) => bus.close()));
  }
}

const told = (transcript: Transcript, story: string[]) =>
  eventually(() => expect(transcript.story).toEqual(story));

const speakToRedis = () => createClient({ url: redis.url });

async function withRedis(work: (client: ReturnType<typeof speakToRedis>) => Promise<unknown>): Promise<void> {
  const client = speakToRedis();
  await client.connect();
  await work(client);
  await client.close();
}

describe.skipIf(!hasRedis)("with a Redis", () => {
  let distance: Distance;
  beforeEach(async () => {
    await withRedis((client) => client.flushAll());
    distance = await Distance.open();
  });
  afterEach(() => distance.close());

  test("the last pieces are told before their message when they are lost on the way", async () => {
    const { world } = distance;
    const reader = await distance.read();
    world.write("Hel");
    await told(reader, [...opening, "part Hel"]);
    distance.isLost = () => true;
    world.write("lo");
    distance.commit("Hello");
    await told(reader, [...opening, "part Hel", "part lo", "message assistant"]);
  });

  test("the last pieces are told before their message when the news of it is lost too", async () => {
    const { world } = distance;
    const reader = await distance.read();
    world.write("Hel");
    await told(reader, [...opening, "part Hel"]);
    distance.isLost = () => true;
    world.write("lo");
    distance.commit("Hello", { isTold: false });
    world.run([{ type: "finish-turn", fence: world.fence }]);
    await told(reader, [...opening, "part Hel", "part lo", "message assistant", "status waiting"]);
  });

  test("a preview whose last pieces are in no log either is called void before its message", async () => {
    const { world } = distance;
    const reader = await distance.read();
    world.write("Hel");
    await told(reader, [...opening, "part Hel"]);
    distance.isLost = () => true;
    world.write("lo");
    await withRedis(async (client) => {
      const [key = ""] = await client.keys("parley:*pieces:*");
      const [last] = (await client.xRevRange(key, "+", "-", { COUNT: 1 })) ?? [];
      await client.xDel(key, last?.id ?? "");
    });
    distance.commit("Hello");
    await told(reader, [...opening, "part Hel", "preview-reset worker_lost", "message assistant"]);
  });

  test("a preview whose log has no end is called void when a read of the database finds its message", async () => {
    const { world } = distance;
    const reader = await distance.read();
    world.write("Hel");
    await told(reader, [...opening, "part Hel"]);
    distance.isLost = () => true;
    world.write("lo");
    distance.commit("Hello", { isTold: false });
    distance.clock.advance(10_000);
    await told(reader, [...opening, "part Hel", "preview-reset worker_lost", "message assistant"]);
  });
});
