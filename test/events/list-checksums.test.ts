// A list's checksum according to its events always equals the one in the database; and how chats are marked as read.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Unread1763700000003 } from "../../migrations/0003-unread.js";
import { type ListEntry, readUpdate } from "../../src/domain/chats/list-events.js";
import { trackBranch } from "../../src/services/git/track-branch.js";
import type { Viewer } from "../../src/domain/users/viewer.js";
import { listChats } from "../../src/store/chats/chats.js";
import { findUnread, markRead, readListChecksums } from "../../src/store/chats/unread.js";
import { isAtRest, type Replica, World } from "../engine/world.js";
import { insertChat, insertMessage, insertViewer } from "../support/database/rows.js";

let world: World;
let replica: Replica;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
afterEach(() => world.closeReplicas());

/** Collects all entries published for the user's list from now on. */
async function listen(ownerId: string): Promise<ListEntry[]> {
  const received: ListEntry[] = [];
  await world.bus.subscribeList(ownerId, (entry) => received.push(entry));
  return received;
}

async function readChecksum(ownerId: string): Promise<number> {
  return (await readListChecksums(world.database, [ownerId])).get(ownerId) ?? 0;
}

function published(entries: ListEntry[]): number {
  return entries.reduce((sum, { checksumDelta }) => sum + checksumDelta, 0);
}

test("a list's checksum equals the sum of its updates, through a chat's whole life", async () => {
  replica = world.replica();
  const { commands } = replica;
  const { viewer } = world;
  const received = await listen(viewer.userId);
  const chatId = await world.createChat(replica, "Hello");
  const other = await world.createChat(replica, "Something else", { title: "Other" });
  const check = async () => expect(published(received)).toBe(await readChecksum(viewer.userId));
  await check();
  await commands.updateChat(viewer, { chatId: other, title: "Renamed", labels: [] });
  await commands.interruptChat(viewer, other);
  await check();
  for (const branch of ["one", "one", "two"])
    await trackBranch(replica.dependencies, other, {
      branch,
      remoteOrigin: "https://git.example/ada/greeter.git",
    });
  await check();
  await replica.worker.start();
  await world.until(chatId, isAtRest);
  await check();
  for (const read of await markRead(world.database, [{ chatId, readerId: viewer.userId }]))
    world.bus.publishList(read.ownerId, readUpdate(read));
  await check();
  world.answer = () => ({ text: ["stays ", "open"], hang: 1 });
  await world.send(replica, chatId, "Again");
  await world.untilStatus(chatId, "running");
  await check();
  await commands.archiveChat(viewer, chatId);
  await world.untilStatus(chatId, "waiting");
  await check();
  await commands.unarchiveChat(viewer, chatId);
  await commands.archiveChat(viewer, other);
  await check();
  const kinds = received.flatMap(({ change }) => (change?.chatId === chatId ? [change.type] : []));
  expect(kinds).toEqual([
    "created",
    "status",
    "status",
    "status",
    "status",
    "status",
    "removed",
    "status",
    "created",
  ]);
});

test("taking a chat over from a dead worker changes no list", async () => {
  world.answer = () => ({ text: ["never ", "ends"], hang: 1 });
  const dead = world.replica();
  await dead.worker.start();
  const received = await listen(world.viewer.userId);
  const before = await readChecksum(world.viewer.userId);
  const chatId = await world.createChat(dead, "Hello");
  await world.untilStreamed(chatId, "never");
  await world.killLease(dead);
  world.answer = () => ({ text: "An answer." });
  const next = world.replica();
  await next.worker.start();
  await world.until(chatId, isAtRest);
  expect(published(received)).toBe((await readChecksum(world.viewer.userId)) - before);
});

describe("reading", () => {
  let ada: Viewer;
  let bert: Viewer;
  beforeAll(async () => {
    [ada, bert] = [await insertViewer(world.database), await insertViewer(world.database)];
  });

  async function answer(chatId: string, more: { visibility?: "user" | "model"; isDeleted?: boolean } = {}) {
    const id = await insertMessage(world.database, { chatId, text: "Yes.", ...more });
    await world.run("UPDATE chat_messages SET role = 'assistant' WHERE id = $1", [id]);
    return id;
  }

  async function unread(...chatIds: string[]): Promise<boolean[]> {
    const found = await findUnread(world.database, chatIds);
    return chatIds.map((id) => found.has(id));
  }

  test("an answer is unread until its owner reads it, and so is a notice; nothing else is", async () => {
    const make = () => insertChat(world.database, { ownerId: ada.userId });
    const [empty, asked, answered, noticed, hidden, taken] = await Promise.all([
      make(),
      make(),
      make(),
      make(),
      make(),
      make(),
    ]);
    await insertMessage(world.database, { chatId: asked, text: "Well?" });
    await answer(answered);
    await answer(noticed, { visibility: "user" });
    await answer(hidden, { visibility: "model" });
    await answer(taken, { isDeleted: true });
    const chats = [empty, asked, answered, noticed, hidden, taken];
    expect(await unread(...chats)).toEqual([false, false, true, true, false, false]);
    const page = { direction: "forwards", limit: 50, after: null, before: null } as const;
    const listed = async (isUnread: boolean | null) => {
      const found = await listChats(world.database, ada, { order: "created", isUnread }, page);
      return found.rows.map(({ row }) => row.id).sort();
    };
    expect([await listed(true), await listed(false), await listed(null)]).toEqual([
      [answered, noticed].sort(),
      [empty, asked, hidden, taken].sort(),
      [...chats].sort(),
    ]);
  });

  test("marking returns what changed, changes nothing else, and only works for the owner", async () => {
    const chatId = await insertChat(world.database, { ownerId: ada.userId });
    const first = await answer(chatId);
    const row = () => world.run("SELECT updated_at, snapshot_version FROM chats WHERE id = $1", [chatId]);
    const before = await row();
    const mark = (readerId: string) => markRead(world.database, [{ chatId, readerId }]);
    expect(await mark(bert.userId)).toEqual([]);
    const read = { chatId, ownerId: ada.userId, status: "waiting", version: 7 };
    expect(await mark(ada.userId)).toEqual([{ ...read, markAdvance: Number(first) }]);
    expect(await mark(ada.userId)).toEqual([]);
    const question = await insertMessage(world.database, { chatId, text: "And?" });
    expect([await mark(ada.userId), await unread(chatId)]).toEqual([[], [false]]);
    const second = await answer(chatId);
    expect(await unread(chatId)).toEqual([true]);
    expect(await mark(ada.userId)).toEqual([{ ...read, markAdvance: Number(second) - Number(first) }]);
    expect(Number(second)).toBeGreaterThan(Number(question));
    expect(await row()).toEqual(before);
  });

  test("many replicas mark the same chats at once without a deadlock", async () => {
    const chats = await Promise.all(
      Array.from({ length: 50 }, () => insertChat(world.database, { ownerId: ada.userId })),
    );
    for (const chatId of chats) await answer(chatId);
    const readings = chats.map((chatId) => ({ chatId, readerId: ada.userId }));
    const marked = await Promise.all(
      [readings, [...readings].reverse(), readings, [...readings].reverse()].map((all) =>
        markRead(world.database, all),
      ),
    );
    expect(
      marked
        .flat()
        .map(({ chatId }) => chatId)
        .sort(),
    ).toEqual([...chats].sort());
    expect((await unread(...chats)).includes(true)).toBe(false);
  });

  test("in an upgraded deployment, existing messages count as read", async () => {
    const [empty, answered] = [
      await insertChat(world.database, { ownerId: ada.userId }),
      await insertChat(world.database, { ownerId: ada.userId }),
    ];
    await answer(answered);
    expect(await unread(answered)).toEqual([true]);
    const migration = new Unread1763700000003();
    const runner = world.test.dataSource.createQueryRunner();
    await migration.down(runner);
    await migration.up(runner);
    await runner.release();
    expect(await unread(empty, answered)).toEqual([false, false]);
    await answer(empty);
    await answer(answered);
    expect(await unread(empty, answered)).toEqual([true, true]);
  });
});
