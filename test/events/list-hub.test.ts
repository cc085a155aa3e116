// A user's chat list as its subscribers receive it, over an in-process bus.
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
  readonly readMarks: ReadMarks;
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
    this.readMarks = new ReadMarks({ bus, clock, log, markRead });
    const isFollowed = (chatId: string) => this.readMarks.isFollowed(chatId);
    const dependencies = { source: this.world, bus, clock, log, isFollowed };
    this.hub = new ListHub(streamBounds ? { ...dependencies, streamBounds } : dependencies);
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
    if (result.failure) throw new Error("stream failed", { cause: result.failure });
    return { stream, sidebar };
  }

  /** Lets the hub check the list's checksum twice. */
  async checkTwice(): Promise<void> {
    for (let check = 0; check < 2; check += 1) {
      this.clock.advance(1_000);
      await settle();
    }
  }
}

describe("a list that is followed", () => {
  test("a new subscriber gets a refresh, and then every change once, in order", async () => {
    const fixture = new Fixture();
    const { sidebar } = await fixture.read();
    const chatId = fixture.world.create("First");
    fixture.world.acquire(chatId);
    fixture.world.finish(chatId);
    fixture.world.rename(chatId, "Named");
    fixture.world.run(chatId, [{ type: "archive" }]);
    fixture.world.run(chatId, [{ type: "unarchive" }]);
    await settle();
    await fixture.checkTwice();
    expect(sidebar.eventLog).toEqual([
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

  test("steps of a turn, retries and the queue do not change the list", async () => {
    const fixture = new Fixture();
    const chatId = fixture.world.create();
    fixture.world.acquire(chatId);
    const { sidebar } = await fixture.read();
    fixture.world.send(chatId);
    await settle();
    await fixture.checkTwice();
    expect(sidebar.eventLog).toEqual(opening);
  });

  test("changes of other users' chats are not sent", async () => {
    const fixture = new Fixture();
    const { sidebar } = await fixture.read();
    new ListWorld(fixture.bus).create();
    await settle();
    expect(sidebar.eventLog).toEqual(opening);
  });

  test("of two servers that publish in the wrong order the newer change wins", async () => {
    const fixture = new Fixture();
    const { bus, world } = fixture;
    const { sidebar } = await fixture.read();
    const late: (() => void)[] = [];
    const publish = bus.publishSaved.bind(bus);
    bus.publishSaved = (change) => {
      if (change.state.status === "pending" && change.previousVersion > 0) late.push(() => publish(change));
      else publish(change);
    };
    const chatId = world.create();
    world.acquire(chatId);
    world.finish(chatId);
    world.send(chatId);
    world.acquire(chatId);
    for (const publishLate of late) publishLate();
    await settle();
    await fixture.checkTwice();
    expect(sidebar.eventLog.slice(2)).toEqual([
      "created",
      "status running",
      "status waiting unread",
      "status running",
    ]);
    expect(sidebar.list).toEqual(world.list);
  });
});

describe("resuming", () => {
  test("sends exactly what was missed, also between two simultaneous events", async () => {
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
    await fixture.checkTwice();
    expect(returned.sidebar.eventLog).toEqual([
      ...opening,
      "created",
      "status running",
      "title Meanwhile",
      "caught-up 2",
      "status waiting unread",
    ]);
  });

  test.each(["nonsense", "", "djF8MXwwfDB8fDA", Buffer.from("l1|1-1|0").toString("base64url")])(
    "with an invalid cursor (%s) sends a refresh",
    async (after) => {
      const fixture = new Fixture();
      const stream = await fixture.open(after);
      const sidebar = new Sidebar(fixture.world);
      followList(stream, sidebar);
      await settle();
      expect(sidebar.eventLog).toEqual(["refresh cursor_too_old", "caught-up 0"]);
    },
  );

  test("with another user's cursor sends a refresh", async () => {
    const bus = new MemoryBus(log);
    const [ada, bert] = [new Fixture(bus), new Fixture(bus)];
    const { sidebar } = await ada.read();
    bert.world.create();
    const resumed = new Sidebar(bert.world);
    resumed.cursor = sidebar.cursor;
    await bert.read(resumed);
    expect(resumed.eventLog).toEqual(["refresh cursor_too_old", "caught-up 0"]);
  });

  test("after a restart, or after more changes than the log retains, sends a refresh", async () => {
    const fixture = new Fixture();
    const { stream, sidebar } = await fixture.read();
    await stream.return();
    const restarted = new Fixture();
    const other = new Sidebar(restarted.world);
    other.cursor = sidebar.cursor;
    await restarted.read(other);
    for (let count = 0; count < 300; count += 1) fixture.world.create();
    await fixture.read(sidebar);
    expect([other.eventLog, sidebar.eventLog]).toEqual([
      ["refresh cursor_too_old", "caught-up 0"],
      [...opening, "refresh cursor_too_old", "caught-up 0"],
    ]);
    expect(sidebar.list).toEqual(fixture.world.list);
  });

  test("to a list with an unpublished change sends a refresh after two checks", async () => {
    const fixture = new Fixture();
    const chatId = fixture.world.create();
    const { stream, sidebar } = await fixture.read();
    await stream.return();
    fixture.world.rename(chatId, "Never published", { isPublished: false });
    await fixture.read(sidebar);
    await fixture.checkTwice();
    expect(sidebar.eventLog).toEqual([...opening, "caught-up 0", "refresh cursor_too_old"]);
    expect(sidebar.list).toEqual(fixture.world.list);
  });
});

describe("a lost event", () => {
  test("is detected by the sweep, which sends one refresh; unchanged lists get nothing", async () => {
    const fixture = new Fixture();
    const { sidebar } = await fixture.read();
    await fixture.checkTwice();
    fixture.world.create("Never published", { isPublished: false });
    fixture.clock.advance(10_000);
    await settle();
    await fixture.checkTwice();
    fixture.clock.advance(10_000);
    await settle();
    await fixture.checkTwice();
    expect(sidebar.eventLog).toEqual([...opening, "refresh cursor_too_old"]);
    expect(sidebar.list).toEqual(fixture.world.list);
  });

  test("a list whose checksum differs at every check gets a refresh eventually", async () => {
    const fixture = new Fixture();
    const { sidebar } = await fixture.read();
    await fixture.checkTwice();
    let checksum = 1_000;
    fixture.world.readListChecksums = async () => new Map([[fixture.world.ownerId, (checksum += 1)]]);
    fixture.clock.advance(8_000);
    await settle();
    for (let check = 0; check < 3; check += 1) {
      fixture.clock.advance(1_000);
      await settle();
    }
    expect(sidebar.eventLog).toEqual(opening);
    fixture.clock.advance(1_000);
    await settle();
    expect(sidebar.eventLog).toEqual([...opening, "refresh cursor_too_old"]);
  });

  test("the checksums of all subscribed lists are read in one statement", async () => {
    const bus = new MemoryBus(log);
    const fixture = new Fixture(bus);
    const asked: string[][] = [];
    const source = {
      readListChecksums: async (ids: string[]) => (asked.push(ids), new Map<string, number>()),
    };
    const hub = new ListHub({ source, bus, clock: fixture.clock, log, isFollowed: () => false });
    const viewers = ["a", "b", "c"].map((userId) => ({ ...fixture.viewer, userId }));
    const streams = await Promise.all(viewers.map((viewer) => hub.subscribe(viewer, null)));
    await settle();
    asked.length = 0;
    fixture.clock.advance(10_000);
    await settle();
    expect(asked[0]).toEqual(["a", "b", "c"]);
    await Promise.all(streams.map((stream) => stream.return()));
  });
});

describe("a slow reader", () => {
  test("gets one refresh instead of what was queued, then continues without a gap", async () => {
    const fixture = new Fixture(new MemoryBus(log), { events: 4, bytes: 1_000_000 });
    const stream = await fixture.open();
    const sidebar = new Sidebar(fixture.world);
    await settle();
    for (let count = 0; count < 100; count += 1) fixture.world.create();
    followList(stream, sidebar);
    await settle();
    fixture.world.create("Last");
    await settle();
    await fixture.checkTwice();
    expect(sidebar.eventLog).toEqual(["refresh fell_behind", "caught-up 0", "created"]);
    expect(sidebar.list).toEqual(fixture.world.list);
  });
});

describe("leaving", () => {
  test("nothing remains of a thousand subscribers that came and went", async () => {
    const fixture = new Fixture();
    const chatId = fixture.world.create();
    for (let round = 0; round < 1_000; round += 1) {
      const [stream, unfollow] = [
        await fixture.open(),
        fixture.readMarks.follow(chatId, fixture.world.ownerId),
      ];
      if (round % 2 === 0) await settle();
      await stream.return();
      unfollow();
    }
    expect([fixture.hub.subscribedLists, fixture.readMarks.followedChats]).toEqual([0, 0]);
    await fixture.readMarks.close();
    await fixture.hub.close();
    const { checksumReads } = fixture.world;
    fixture.clock.advance(60_000);
    await settle();
    expect(fixture.world.checksumReads).toBe(checksumReads);
  });

  test("closing ends every stream after its queued events", async () => {
    const fixture = new Fixture();
    const { stream, sidebar } = await fixture.read();
    fixture.world.create();
    await fixture.hub.close();
    await settle();
    expect([sidebar.eventLog.at(-1), (await stream.next()).done]).toEqual(["created", true]);
  });

  test("a list whose checksum cannot be read ends its streams", async () => {
    const fixture = new Fixture();
    fixture.world.beforeRead = () => Promise.reject(new Error("The database is away."));
    const stream = await fixture.open();
    const events: ListEvent[] = [];
    for await (const event of stream) events.push(event);
    expect([events, fixture.hub.subscribedLists]).toEqual([[], 0]);
  });
});

describe("reading", () => {
  test("a followed chat is marked as read when its turn ends; the list never shows it as unread", async () => {
    const fixture = new Fixture();
    const { world, bus, readMarks } = fixture;
    const chatId = world.create();
    const { sidebar } = await fixture.read();
    const detach = await bus.subscribeChat(chatId, {
      saved: (change) => readMarks.saved(change),
      live: () => undefined,
    });
    const unfollow = readMarks.follow(chatId, world.ownerId);
    world.acquire(chatId);
    world.finish(chatId);
    await settle();
    await fixture.checkTwice();
    expect(sidebar.eventLog.slice(2)).toEqual([
      "status running read",
      "status waiting read",
      "status waiting read",
    ]);
    expect(world.show(chatId).isUnread).toBe(false);
    unfollow();
    detach();
  });

  test("following an unread chat marks it as read and updates the list; following a read one sends nothing", async () => {
    const fixture = new Fixture();
    const { world, readMarks } = fixture;
    const chatId = world.create();
    world.acquire(chatId);
    world.finish(chatId);
    const { sidebar } = await fixture.read();
    readMarks.follow(chatId, world.ownerId)();
    await settle();
    readMarks.follow(chatId, world.ownerId)();
    await settle();
    await fixture.checkTwice();
    expect(sidebar.eventLog).toEqual([...opening, "status waiting read"]);
    expect(sidebar.list).toEqual(world.list);
  });

  test("a mark that failed is written by the next sweep", async () => {
    const fixture = new Fixture();
    const { world, readMarks } = fixture;
    const chatId = world.create();
    world.acquire(chatId);
    world.finish(chatId);
    fixture.isDatabaseAway = true;
    readMarks.follow(chatId, world.ownerId)();
    await settle();
    fixture.isDatabaseAway = false;
    expect(world.show(chatId).isUnread).toBe(true);
    fixture.clock.advance(10_000);
    await settle();
    expect(world.show(chatId).isUnread).toBe(false);
  });
});
