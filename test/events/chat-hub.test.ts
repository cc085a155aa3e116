// Late, slow and unlucky readers receive everything that was committed; the hub retains nothing of those that left.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encodeEventCursor } from "../../src/domain/common/cursors.js";
import { endOfVersion } from "../../src/domain/chats/chat-events.js";
import { HubFixture, opening } from "./hub-fixture.js";
import { follow, settle, Transcript } from "./transcript.js";
import { CHAT_ID, userMessage, viewer } from "./world.js";

let clock: HubFixture["clock"];
let world: HubFixture["world"];
let hub: HubFixture["hub"];
let fixture: HubFixture;

const read = (after?: string | null) => fixture.read(after);

function build(options: ConstructorParameters<typeof HubFixture>[0] = {}): void {
  fixture = new HubFixture(options);
  ({ clock, world, hub } = fixture);
}

beforeEach(() => build());
afterEach(() => hub.close());

describe("a reader receives a refresh", () => {
  test.each([
    ["nonsense", "not a cursor"],
    [
      "a position beyond the newest version",
      encodeEventCursor({ position: endOfVersion(9_999), generation: null, sequence: 0 }),
    ],
  ])("when its cursor is %s", async (_name, cursor) => {
    expect(await (await read(cursor)).eventLog()).toEqual(["refresh cursor_too_old", "caught-up"]);
  });

  test("when history was edited, at once or on its return", async () => {
    const live = await read();
    const away = await read();
    await away.stream.return();
    world.run([{ type: "edit-message", messageId: "1", message: userMessage("other") }]);
    const back = await read(away.transcript.cursor);

    expect(await live.eventLog()).toEqual([...opening, "refresh history_edited"]);
    expect(await back.eventLog()).toEqual(["refresh history_edited", "caught-up"]);
  });

  test("when it missed more rows than a replay carries", async () => {
    const first = await read();
    await first.stream.return();
    world.start();
    for (let step = 0; step < 1_001; step += 1) fixture.commitStep(`${step}`);
    expect(await (await read(first.transcript.cursor)).eventLog()).toEqual([
      "refresh cursor_too_old",
      "caught-up",
    ]);
  });

  test("once when it is slow, and then receives everything after that without a gap", async () => {
    build({ streamBounds: { events: 8, bytes: 100_000 } });
    world.start();
    const stream = await hub.subscribe(viewer, CHAT_ID, null);
    if (!stream) throw new Error("chat not found");
    await settle();
    for (let count = 0; count < 5_000; count += 1) world.write(`${count}`);
    world.finish("long");
    const transcript = new Transcript(world);
    follow(stream, transcript);
    await settle();
    world.run([{ type: "send-message", whenBusy: "queue", message: userMessage("next"), queuedId: "q" }]);
    await settle();

    expect(transcript.eventLog).toEqual([
      "refresh fell_behind",
      "message assistant",
      "status waiting",
      "caught-up",
      "message user",
      "status pending",
    ]);
    expect(transcript.events[3]).toMatchObject({ type: "caught-up", replayedEvents: 2 });
  });
});

describe("no committed change is lost", () => {
  test("when a commit falls between the reads of the rows and of the state for a returning reader", async () => {
    const first = await read();
    await first.stream.return();
    world.start();
    fixture.commitStep("one");
    world.beforeRead = (name) => {
      if (name !== "rows") return;
      world.beforeRead = () => undefined;
      fixture.commitStep("two", { isPublished: false });
    };
    const second = await read(first.transcript.cursor);
    fixture.commitStep("three");
    await second.eventLog();

    expect(texts(second.transcript)).toEqual(["one", "two", "three"]);
  });

  test("when a reader left in the middle of a version and the channel was closed since", async () => {
    const stream = await hub.subscribe(viewer, CHAT_ID, null);
    world.start();
    const messages = [world.answer("one"), world.answer("two")];
    world.run([{ type: "commit-step", fence: world.fence, messages, openCalls: [] }]);
    let cursor: string | null = null;
    for await (const event of stream ?? []) {
      cursor = event.cursor;
      if (event.type === "message") break;
    }
    expect(hub.subscribedChats).toBe(0);
    expect(texts((await read(cursor)).transcript)).toEqual(["two"]);
  });

  test("when the bus lost more rows than are retained in memory", async () => {
    const reader = await read();
    world.start();
    for (let step = 0; step < 400; step += 1) fixture.commitStep(`${step}`, { isPublished: false });
    hub.sweep();
    await settle();
    expect(texts(reader.transcript)).toEqual(Array.from({ length: 400 }, (_, step) => `${step}`));
  });

  test("when the bus delivered nothing: the sweep detects it within ten seconds", async () => {
    const reader = await read();
    world.run([{ type: "interrupt" }], { isPublished: false });
    await settle();
    expect(await reader.eventLog()).toEqual(opening);
    clock.advance(10_000);
    await settle();
    expect(await reader.eventLog()).toEqual([...opening, "status waiting"]);
  });

  test("when a change arrives while the first snapshot is still being read", async () => {
    world.beforeRead = async () => {
      world.beforeRead = () => undefined;
      await Promise.resolve();
      world.start();
    };
    const reader = await read();
    expect(reader.transcript.status).toBe("running");
  });

  test("when the queue overflows: the dropped changes are read instead", async () => {
    const reader = await read();
    world.start();
    const old = await world.readChat();
    const gate = deferred();
    const readChat = world.readChat.bind(world);
    world.readChat = () => gate.promise.then(() => ((world.readChat = readChat), old));
    world.run([{ type: "send-message", whenBusy: "queue", message: userMessage("0"), queuedId: "0" }], {
      isLarge: true,
    });
    for (let round = 1; round <= 3_000; round += 1) {
      world.run([{ type: "delete-queued", queuedId: `${round - 1}` }]);
      const message = userMessage(`${round}`);
      world.run([{ type: "send-message", whenBusy: "queue", message, queuedId: `${round}` }]);
    }
    gate.open();
    expect((await reader.eventLog()).slice(2)).toEqual(["status running", "queue"]);
    expect(reader.transcript.queue).toEqual(world.queue);
  });
});

describe("the hub", () => {
  test("does not reveal to other users whether a chat exists", async () => {
    const other = { ...viewer, userId: "33333333-3333-4333-8333-333333333333" };
    expect(await hub.subscribe(other, CHAT_ID, null)).toBeNull();
    expect(hub.subscribedChats).toBe(0);
  });

  test("lets an administrator read any chat", async () => {
    const admin = { ...viewer, userId: "33333333-3333-4333-8333-333333333333", role: "admin" as const };
    expect(await hub.subscribe(admin, CHAT_ID, null)).not.toBeNull();
  });

  test("retains nothing of a thousand readers that came and went", async () => {
    for (let round = 0; round < 1_000; round += 1) {
      const stream = await hub.subscribe(viewer, CHAT_ID, null);
      if (round % 2) await stream?.next();
      await stream?.return();
    }
    expect(hub.subscribedChats).toBe(0);
  });

  test("subscribes to a chat once for all its readers, until the last has left", async () => {
    const streams = await Promise.all([1, 2, 3].map(() => hub.subscribe(viewer, CHAT_ID, null)));
    expect(hub.subscribedChats).toBe(1);
    for (const stream of streams) await stream?.return();
    expect(hub.subscribedChats).toBe(0);
  });

  test("ends the stream of a chat that is deleted", async () => {
    const reader = await read();
    world.isDeleted = true;
    clock.advance(10_000);
    await settle();
    expect(await reader.stream.next()).toEqual({ value: undefined, done: true });
    expect(hub.subscribedChats).toBe(0);
  });

  test("ends its readers' streams when a read fails, and serves them again when they return", async () => {
    const reader = await read();
    world.beforeRead = () => Promise.reject(new Error("The database is away."));
    world.run([{ type: "interrupt" }], { isLarge: true });
    world.run([{ type: "send-message", whenBusy: "queue", message: userMessage("next"), queuedId: "q" }], {
      isLarge: true,
    });
    await settle();
    expect(hub.subscribedChats).toBe(0);
    await expect(hub.subscribe(viewer, CHAT_ID, null)).rejects.toThrow("The database is away.");
    expect(hub.subscribedChats).toBe(0);
    world.beforeRead = () => undefined;
    const back = await read(reader.transcript.cursor);
    expect(await back.eventLog()).toEqual(["message user", "status pending", "caught-up"]);
  });
});

function deferred(): { promise: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, open: () => open() };
}

function texts(transcript: Transcript): string[] {
  return transcript.events.flatMap((event) =>
    event.type === "message"
      ? event.message.parts.map((part) => (part.type === "text" ? part.text : part.type))
      : [],
  );
}
