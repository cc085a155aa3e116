// Chat lists on several replicas, through a real Redis, which is killed and restarted.
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ListEntry, ListUpdate } from "../../src/domain/chats/list-events.js";
import { ListHub } from "../../src/events/lists/list-hub.js";
import { RedisBus } from "../../src/events/bus/redis-bus.js";
import { CONFIG_CHANGES_TOPIC, WAKE_TOPIC } from "../../src/events/bus/redis-envelope.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../agent/manual-clock.js";
import { hasRedis, startRedis, type TestRedis } from "../support/network/redis.js";
import { followList, ListWorld, Sidebar } from "./list-world.js";
import { eventually } from "../support/eventually.js";

const log = createLog("silent");
const opening = ["refresh first_snapshot", "caught-up 0"];

let redis: TestRedis;
let clock: ManualClock;
const buses: RedisBus[] = [];
const hubs: ListHub[] = [];
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});
beforeEach(() => {
  clock = new ManualClock();
});
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close()));
  await Promise.all(buses.splice(0).map((bus) => bus.close()));
});

async function connect(): Promise<RedisBus> {
  const bus = await RedisBus.connect({ url: redis.url, log, clock: systemClock });
  buses.push(bus);
  return bus;
}

function replica(bus: RedisBus, source: ListWorld): ListHub {
  const hub = new ListHub({ source, bus, clock, log, isFollowed: () => false });
  hubs.push(hub);
  return hub;
}

async function follow(hub: ListHub, world: ListWorld, sidebar = new Sidebar(world)) {
  const { ownerId: userId } = world;
  const viewer = { userId, username: "ada", name: "Ada", role: "member" as const, expiresAt: null };
  const stream = await hub.subscribe(viewer, sidebar.cursor);
  const before = sidebar.eventLog.length;
  followList(stream, sidebar);
  await eventually(() => expect(sidebar.eventLog.slice(before).join()).toContain("caught-up"));
  return { stream, sidebar };
}

/** Lets the replicas check the database repeatedly until the expectation is met. */
const healed = (expectation: () => void) =>
  eventually(() => {
    clock.advance(1_000);
    expectation();
  });

function renamed(title: string, rank: number): ListUpdate {
  return { change: { type: "title", chatId: "c", title }, checksumDelta: 1, subject: "c title", rank };
}

async function withRedis<T>(query: (client: ReturnType<typeof createClient>) => Promise<T>): Promise<T> {
  const client = createClient({ url: redis.url });
  await client.connect();
  const result = await query(client as ReturnType<typeof createClient>);
  await client.close();
  return result;
}

describe.skipIf(!hasRedis)("the log of a list in Redis", () => {
  test("all replicas receive the same entries in the same order, each with the id of the one before it", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const received: ListEntry[][] = [[], []];
    await here.subscribeList("ada", (entry) => received[0]?.push(entry));
    await there.subscribeList("ada", (entry) => received[1]?.push(entry));
    const { last } = await here.readList("ada", null);
    for (let count = 1; count <= 10; count += 1)
      (count % 2 === 0 ? here : there).publishList("ada", renamed(`"${count}" \u0000 \u{1F600}`, count));
    here.publishList("bert", renamed("not Ada's", 1));
    await eventually(() => expect(received.map(({ length }) => length)).toEqual([10, 10]));
    expect(received[0]).toEqual(received[1]);
    expect(received[0]?.map(({ after }) => after)).toEqual([
      last,
      ...(received[0] ?? []).map(({ id }) => id).slice(0, -1),
    ]);
    expect(await there.readList("ada", last)).toEqual({
      last: received[0]?.at(-1)?.id,
      entries: received[0],
    });
  });

  test("a late update of an older version counts toward the checksum, but shows no change", async () => {
    const bus = await connect();
    const { last } = await bus.readList("late", null);
    bus.publishList("late", renamed("new", 8));
    bus.publishList("late", renamed("old", 6));
    bus.publishList("late", { ...renamed("another chat", 6), subject: "d title" });
    await eventually(async () => expect((await bus.readList("late", last)).entries).toHaveLength(3));
    const { entries } = await bus.readList("late", last);
    expect(
      entries?.map(({ change, checksumDelta }) => [
        change && "title" in change && change.title,
        checksumDelta,
      ]),
    ).toEqual([
      ["new", 1],
      [null, 1],
      ["another chat", 1],
    ]);
  });

  test("is capped and expires; a position that is no longer in it is recognized", async () => {
    const bus = await connect();
    const { last } = await bus.readList("busy", null);
    for (let count = 1; count <= 1_000; count += 1) bus.publishList("busy", renamed(`${count}`, count));
    await eventually(async () => {
      const { entries, last: end } = await bus.readList("busy", last);
      expect([entries, end === last]).toEqual([null, false]);
    });
    const length = await withRedis((client) => client.xLen("parley:{owner:busy}:log"));
    expect(length).toBeLessThan(512);
    const lives = await withRedis((client) =>
      Promise.all(["log", "ranks"].map((key) => client.pTTL(`parley:{owner:busy}:${key}`))),
    );
    expect(lives.every((ms) => ms > 0)).toBe(true);
  });
});

describe.skipIf(!hasRedis)("a list on several replicas", () => {
  test("is the same on all, and a cursor of one is valid on the other", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const world = new ListWorld(here);
    const [hubHere, hubThere] = [replica(here, world), replica(there, world)];
    const [first, second] = [await follow(hubHere, world), await follow(hubThere, world)];
    const chatId = world.create();
    world.acquire(chatId);
    await eventually(() => expect(second.sidebar.eventLog).toHaveLength(4));
    await eventually(() => expect(first.sidebar.eventLog).toHaveLength(4));
    expect([first.sidebar.cursor, first.sidebar.list]).toEqual([second.sidebar.cursor, world.list]);
    await first.stream.return();
    world.finish(chatId);
    world.rename(chatId, "Meanwhile");
    await eventually(() => expect(second.sidebar.eventLog).toHaveLength(6));
    await follow(hubThere, world, first.sidebar);
    expect(first.sidebar.eventLog.slice(4)).toEqual([
      "status waiting unread",
      "title Meanwhile",
      "caught-up 2",
    ]);
    await healed(() => expect(first.sidebar.list).toEqual(world.list));
    expect(first.sidebar.cursor).toBe(second.sidebar.cursor);
  });

  test("continues while Redis is away: locally at once, elsewhere with a refresh, and normally once Redis is back", async () => {
    const [here, there] = await Promise.all([connect(), connect()]);
    const world = new ListWorld(here);
    const [first, second] = [
      await follow(replica(here, world), world),
      await follow(replica(there, world), world),
    ];
    await redis.kill();
    await eventually(() => expect([here.isConnected, there.isConnected]).toEqual([false, false]));
    const chatId = world.create("Without Redis");
    await eventually(() => expect(first.sidebar.eventLog).toEqual([...opening, "created"]));
    await healed(() => expect(second.sidebar.eventLog).toEqual([...opening, "refresh cursor_too_old"]));
    expect(second.sidebar.list).toEqual(world.list);
    await redis.restart();
    await eventually(() => expect([here.isConnected, there.isConnected]).toEqual([true, true]));
    world.rename(chatId, "With Redis");
    const sidebars = [first.sidebar, second.sidebar];
    await healed(() => expect(sidebars.map(({ list }) => list)).toEqual([world.list, world.list]));
    world.rename(chatId, "As before");
    await eventually(() =>
      expect(sidebars.map(({ eventLog }) => eventLog.at(-1))).toEqual(["title As before", "title As before"]),
    );
  });

  test("a server that starts without Redis serves lists all the same, and connects to their logs later", async () => {
    await redis.kill();
    const bus = await connect();
    const world = new ListWorld(bus);
    const { sidebar, stream } = await follow(replica(bus, world), world);
    world.create("Alone");
    await eventually(() => expect(sidebar.eventLog).toEqual([...opening, "created"]));
    await redis.restart();
    await eventually(() => expect(bus.isConnected).toBe(true));
    world.create("In company");
    await healed(() => expect(sidebar.list).toEqual(world.list));
    await stream.return();
    const late = await follow(hubs[0] as ListHub, world, sidebar);
    await healed(() => expect(late.sidebar.list).toEqual(world.list));
  });

  test("a thousand subscribers that come and go leave no subscription", async () => {
    const bus = await connect();
    for (let round = 0; round < 50; round += 1) {
      const worlds = Array.from({ length: 20 }, () => new ListWorld(bus));
      const hub = hubs[0] ?? replica(bus, worlds[0] as ListWorld);
      const streams = await Promise.all(
        worlds.map(({ ownerId: userId }) =>
          hub.subscribe({ userId, username: "a", name: "A", role: "member", expiresAt: null }, null),
        ),
      );
      await Promise.all(streams.map((stream) => stream.return()));
    }
    const topics = () =>
      withRedis(async (client) => [
        ...(await client.pubSubShardChannels()),
        ...(await client.pubSubChannels()),
      ]);
    await eventually(async () =>
      expect((await topics()).filter((name) => name !== WAKE_TOPIC && name !== CONFIG_CHANGES_TOPIC)).toEqual(
        [],
      ),
    );
    expect(hubs[0]?.subscribedLists).toBe(0);
  });
});
