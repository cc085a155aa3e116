// A person's list of chats as their subscribers hear of it, over one process's bus.
import { describe, expect, test } from "vitest";
import type { ListEvent } from "../../src/domain/chats/list-events.js";
import type { StreamBounds } from "../../src/events/common/event-stream.js";
import { ListHub } from "../../src/events/lists/list-hub.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { ReadMarks } from "../../src/events/bus/read-marks.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../agent/manual-clock.js";
import { followList, ListWorld, Sidebar } from "./list-world.js";
import { settle } from "./transcript.js";

const opening = ["refresh first_snapshot", "caught-up 0"];
const log = createLog("silent");

class Fixture {
  readonly clock = new ManualClock();
  readonly world: ListWorld;
  readonly hub: ListHub;
  readonly reads: ReadMarks;
  isDatabaseAway = false;

  constructor(
    readonly bus = new MemoryBus(log),
    streamBounds?: StreamBounds,
  ) {
    const { clock } = this;
    this.world = new ListWorld(bus);
    const markRead = (readings: { chatId: string }[]) =>
      this.isDatabaseAway
        ? Promise.reject(new Error("The database is away."))
        : Promise.resolve(readings.flatMap(({ chatId }) => this.world.markRead(chatId) ?? []));
    this.reads = new ReadMarks({ bus, clock, log, markRead });
    const isFollowed = (chatId: string) => this.reads.isFollowed(chatId);
    const parts = { source: this.world, bus, clock, log, isFollowed };
    this.hub = new ListHub(streamBounds ? { ...parts, streamBounds } : parts);
  }

  get viewer() {
    const name = { username: "ada", name: "Ada", role: "member" as const, expiresAt: null };
    return { userId: this.world.ownerId, ...name };
  }

  open(after: string | null = null) {
    return this.hub.subscribe(this.viewer, after);
  }

  async read(sidebar = new Sidebar(this.world)) {
    const stream = await this.open(sidebar.cursor);
    const result = followList(stream, sidebar);
    await settle();
    if (result.failure) throw new Error("The stream failed.", { cause: result.failure });
    return { stream, sidebar };
  }

  /** What a look at the database a second after doubts arose, and another after that, bring. */
  async lookTwice(): Promise<void> {
    for (let look = 0; look < 2; look += 1) {
      this.clock.advance(1_000);
      await settle();
    }
  }
}

describe("a list that is followed", () => {
  test("a new subscriber is told to read the list, and hears everything after that once, in order", async () => {
    const fixture = new Fixture();
    const { sidebar } = await fixture.read();
    const chatId = fixture.world.create("First");
    fixture.world.acquire(chatId);
    fixture.world.finish(chatId);
    fixture.world.rename(chatId, "Named");
    fixture.world.run(chatId, [{ type: "archive" }]);
    fixture.world.run(chatId, [{ type: "unarchive" }]);
    await settle();
    await fixture.lookTwice();
    expect(sidebar.story).toEqual([
      ...opening,
      "created",
      "status running",
      "status waiting unread",
      "title Named",
      "removed archived",
      "created",
    ]);
    expect(sidebar.list).toEqual(fixture.world.list);
  });

  test("steps of a turn, retries and the queue are no news of the list", async () => {
    const fixture = new Fixture();
    const chatId = fixture.world.create();
    fixture.world.acquire(chatId);
    const { sidebar } = await fixture.read();
    fixture.world.send(chatId);
    await settle();
    await fixture.lookTwice();
    expect(sidebar.story).toEqual(opening);
  });

  test("other people's chats are not told", async () => {
    const fixture = new Fixture();
    const { sidebar } = await fixture.read();
    new ListWorld(fixture.bus).create();
    await settle();
    expect(sidebar.story).toEqual(opening);
  });

  test("of two servers that tell in the wrong order the newer one wins", async () => {
    const fixture = new Fixture();
    const { bus, world } = fixture;
    const { sidebar } = await fixture.read();
    const late: (() => void)[] = [];
    const publish = bus.publishSaved.bind(bus);
    bus.publishSaved = (news) => {
      if (news.state.status === "pending" && news.previousVersion > 0) late.push(() => publish(news));
      else publish(news);
    };
    const chatId = world.create();
    world.acquire(chatId);
    world.finish(chatId);
    world.send(chatId);
    world.acquire(chatId);
    for (const tell of late) tell();
    await settle();
    await fixture.lookTwice();
    expect(sidebar.story.slice(2)).toEqual([
      "created",
      "status running",
      "status waiting unread",
      "status running",
    ]);
    expect(sidebar.list).toEqual(world.list);
  });
});

describe("coming back", () => {
  test("brings exactly what was missed, also between two events of one moment", async () => {
    const fixture = new Fixture();
    const { stream, sidebar } = await fixture.read();
    const chatId = fixture.world.create();
    await settle();
    await stream.return();
    fixture.world.acquire(chatId);
    fixture.world.rename(chatId, "Meanwhile");
    const returned = await fixture.read(sidebar);
    fixture.world.finish(chatId);
    await settle();
    await fixture.lookTwice();
    expect(returned.sidebar.story).toEqual([
      ...opening,
      "created",
      "status running",
      "title Meanwhile",
      "caught-up 2",
      "status waiting unread",
    ]);
  });

  test.each(["nonsense", "", "djF8MXwwfDB8fDA", Buffer.from("l1|1-1|0").toString("base64url")])(
    "with a cursor that is not ours (%s) brings a refresh",
    async (after) => {
      const fixture = new Fixture();
      const stream = await fixture.open(after);
      const sidebar = new Sidebar(fixture.world);
      followList(stream, sidebar);
      await settle();
      expect(sidebar.story).toEqual(["refresh cursor_too_old", "caught-up 0"]);
    },
  );

  test("with another person's cursor brings a refresh", async () => {
    const bus = new MemoryBus(log);
    const [ada, bert] = [new Fixture(bus), new Fixture(bus)];
    const { sidebar } = await ada.read();
    bert.world.create();
    const foreign = new Sidebar(bert.world);
    foreign.cursor = sidebar.cursor;
    await bert.read(foreign);
    expect(foreign.story).toEqual(["refresh cursor_too_old", "caught-up 0"]);
  });

  test("after a restart, or more news than the log holds, brings a refresh", async () => {
    const fixture = new Fixture();
    const { stream, sidebar } = await fixture.read();
    await stream.return();
    const restarted = new Fixture();
    const other = new Sidebar(restarted.world);
    other.cursor = sidebar.cursor;
    await restarted.read(other);
    for (let count = 0; count < 300; count += 1) fixture.world.create();
    await fixture.read(sidebar);
    expect([other.story, sidebar.story]).toEqual([
      ["refresh cursor_too_old", "caught-up 0"],
      [...opening, "refresh cursor_too_old", "caught-up 0"],
    ]);
    expect(sidebar.list).toEqual(fixture.world.list);
  });

  test("to a list that moved on without a word brings a refresh after two looks", async () => {
    const fixture = new Fixture();
    const chatId = fixture.world.create();
    const { stream, sidebar } = await fixture.read();
    await stream.return();
    fixture.world.rename(chatId, "Never told", { isTold: false });
    await fixture.read(sidebar);
    await fixture.lookTwice();
    expect(sidebar.story).toEqual([...opening, "caught-up 0", "refresh cursor_too_old"]);
    expect(sidebar.list).toEqual(fixture.world.list);
  });
});

describe("news that is lost", () => {
  test("is noticed by the sweep, which leads to one refresh; quiet lists stay quiet", async () => {
    const fixture = new Fixture();
    const { sidebar } = await fixture.read();
    await fixture.lookTwice();
    fixture.world.create("Never told", { isTold: false });
    fixture.clock.advance(10_000);
    await settle();
    await fixture.lookTwice();
    fixture.clock.advance(10_000);
    await settle();
    await fixture.lookTwice();
    expect(sidebar.story).toEqual([...opening, "refresh cursor_too_old"]);
    expect(sidebar.list).toEqual(fixture.world.list);
  });

  test("a list that weighs otherwise at every look is not believed for ever", async () => {
    const fixture = new Fixture();
    const { sidebar } = await fixture.read();
    await fixture.lookTwice();
    let weight = 1_000;
    fixture.world.readListWeights = async () => new Map([[fixture.world.ownerId, (weight += 1)]]);
    fixture.clock.advance(8_000);
    await settle();
    for (let look = 0; look < 3; look += 1) {
      fixture.clock.advance(1_000);
      await settle();
    }
    expect(sidebar.story).toEqual(opening);
    fixture.clock.advance(1_000);
    await settle();
    expect(sidebar.story).toEqual([...opening, "refresh cursor_too_old"]);
  });

  test("all watched lists are weighed in one statement", async () => {
    const bus = new MemoryBus(log);
    const fixture = new Fixture(bus);
    const asked: string[][] = [];
    const source = { readListWeights: async (ids: string[]) => (asked.push(ids), new Map<string, number>()) };
    const hub = new ListHub({ source, bus, clock: fixture.clock, log, isFollowed: () => false });
    const people = ["a", "b", "c"].map((userId) => ({ ...fixture.viewer, userId }));
    const streams = await Promise.all(people.map((viewer) => hub.subscribe(viewer, null)));
    await settle();
    asked.length = 0;
    fixture.clock.advance(10_000);
    await settle();
    expect(asked[0]).toEqual(["a", "b", "c"]);
    await Promise.all(streams.map((stream) => stream.return()));
  });
});

describe("a slow reader", () => {
  test("gets one refresh in place of what waited, then goes on without a hole", async () => {
    const fixture = new Fixture(new MemoryBus(log), { events: 4, bytes: 1_000_000 });
    const stream = await fixture.open();
    const sidebar = new Sidebar(fixture.world);
    await settle();
    for (let count = 0; count < 100; count += 1) fixture.world.create();
    followList(stream, sidebar);
    await settle();
    fixture.world.create("Last");
    await settle();
    await fixture.lookTwice();
    expect(sidebar.story).toEqual(["refresh fell_behind", "caught-up 0", "created"]);
    expect(sidebar.list).toEqual(fixture.world.list);
  });
});

describe("leaving", () => {
  test("a thousand subscribers that come and go leave nothing behind", async () => {
    const fixture = new Fixture();
    const chatId = fixture.world.create();
    for (let round = 0; round < 1_000; round += 1) {
      const [stream, unfollow] = [await fixture.open(), fixture.reads.follow(chatId, fixture.world.ownerId)];
      if (round % 2 === 0) await settle();
      await stream.return();
      unfollow();
    }
    expect([fixture.hub.watchedLists, fixture.reads.followedChats]).toEqual([0, 0]);
    await fixture.reads.close();
    await fixture.hub.close();
    const { weighings } = fixture.world;
    fixture.clock.advance(60_000);
    await settle();
    expect(fixture.world.weighings).toBe(weighings);
  });

  test("closing ends every stream after what waits for it", async () => {
    const fixture = new Fixture();
    const { stream, sidebar } = await fixture.read();
    fixture.world.create();
    await fixture.hub.close();
    await settle();
    expect([sidebar.story.at(-1), (await stream.next()).done]).toEqual(["created", true]);
  });

  test("a list that cannot be weighed ends its streams, whose readers come back", async () => {
    const fixture = new Fixture();
    fixture.world.beforeRead = () => Promise.reject(new Error("The database is away."));
    const stream = await fixture.open();
    const events: ListEvent[] = [];
    for await (const event of stream) events.push(event);
    expect([events, fixture.hub.watchedLists]).toEqual([[], 0]);
  });
});

describe("reading", () => {
  test("a chat that is looked at is read when its turn ends; the list never calls it unread", async () => {
    const fixture = new Fixture();
    const { world, bus, reads } = fixture;
    const chatId = world.create();
    const { sidebar } = await fixture.read();
    const detach = await bus.subscribeChat(chatId, {
      saved: (news) => reads.saved(news),
      live: () => undefined,
    });
    const unfollow = reads.follow(chatId, world.ownerId);
    world.acquire(chatId);
    world.finish(chatId);
    await settle();
    await fixture.lookTwice();
    expect(sidebar.story.slice(2)).toEqual([
      "status running read",
      "status waiting read",
      "status waiting read",
    ]);
    expect(world.show(chatId).isUnread).toBe(false);
    unfollow();
    detach();
  });

  test("looking at an unread chat reads it, and tells the list so; looking at a read one tells nothing", async () => {
    const fixture = new Fixture();
    const { world, reads } = fixture;
    const chatId = world.create();
    world.acquire(chatId);
    world.finish(chatId);
    const { sidebar } = await fixture.read();
    reads.follow(chatId, world.ownerId)();
    await settle();
    reads.follow(chatId, world.ownerId)();
    await settle();
    await fixture.lookTwice();
    expect(sidebar.story).toEqual([...opening, "status waiting read"]);
    expect(sidebar.list).toEqual(world.list);
  });

  test("what the database did not take is marked with the next sweep", async () => {
    const fixture = new Fixture();
    const { world, reads } = fixture;
    const chatId = world.create();
    world.acquire(chatId);
    world.finish(chatId);
    fixture.isDatabaseAway = true;
    reads.follow(chatId, world.ownerId)();
    await settle();
    fixture.isDatabaseAway = false;
    expect(world.show(chatId).isUnread).toBe(true);
    fixture.clock.advance(10_000);
    await settle();
    expect(world.show(chatId).isUnread).toBe(false);
  });
});
