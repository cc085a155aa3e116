// Auto-archive: which chats are archived, by which replica, and that chats in use are not.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { SavedChange } from "../../src/domain/chats/chat-events.js";
import { AutoArchive } from "../../src/services/chats/auto-archive.js";
import type { TransitionDependencies } from "../../src/engine/transitions/apply-transition.js";
import { tryAutoArchiveLock } from "../../src/store/chats/auto-archive.js";
import { insertChat } from "../support/database/rows.js";
import { isAtRest, World, type Replica } from "../engine/world.js";

const DAY_MS = 86_400_000;
let world: World;
let replica: Replica;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
beforeEach(() => {
  replica = world.replica();
});
afterEach(async () => {
  await world.closeReplicas();
  await world.run("DELETE FROM chats");
});

const archiveOf = (parts: Partial<TransitionDependencies> = {}) =>
  new AutoArchive({ ...replica.dependencies, ...parts }, { afterDays: 30 });

/** Time that many days before the replica's clock. */
const daysAgo = (days: number) => new Date(replica.clock.now() - days * DAY_MS).toISOString();

async function archived(): Promise<unknown[]> {
  const rows = await world.run("SELECT title FROM chats WHERE archived_at IS NOT NULL ORDER BY title");
  return rows.map((row) => row["title"]);
}

test("idle chats without recent changes are archived, and their subscribers receive the change", async () => {
  const ownerId = world.viewer.userId;
  const old = await insertChat(world.database, { ownerId, title: "old", updatedAt: daysAgo(31) });
  await insertChat(world.database, {
    ownerId,
    title: "old and failed",
    status: "error",
    updatedAt: daysAgo(31),
  });
  await insertChat(world.database, {
    ownerId,
    title: "old but waiting",
    status: "pending",
    updatedAt: daysAgo(31),
  });
  await insertChat(world.database, { ownerId, title: "young", updatedAt: daysAgo(29) });
  const published: SavedChange[] = [];
  await world.bus.subscribeChat(old, { saved: (change) => published.push(change), live: () => undefined });
  expect(await archiveOf().archiveIdle()).toBe(2);
  expect([await archived(), published.map(({ state }) => [state.isArchived, state.snapshotVersion])]).toEqual(
    [["old", "old and failed"], [[true, 8]]],
  );
  expect(await archiveOf().archiveIdle()).toBe(0);
});

test("a chat is archived with its subagents, and not before all of them are idle for long enough", async () => {
  const ownerId = world.viewer.userId;
  const insert = async (title: string, days: number, parentId?: string) =>
    insertChat(world.database, { ownerId, title, updatedAt: daysAgo(days), ...(parentId && { parentId }) });
  const idle = await insert("idle", 40);
  await insert("idle below", 31, idle);
  const watched = await insert("watched", 40);
  await insert("watched below", 29, watched);
  const busy = await insert("busy", 40);
  const below = { ownerId, title: "busy below", status: "pending" as const, parentId: busy };
  await insertChat(world.database, { ...below, updatedAt: daysAgo(40) });
  expect([await archiveOf().archiveIdle(), await archived()]).toEqual([1, ["idle", "idle below"]]);
});

test("one run archives more chats than one batch", async () => {
  for (let index = 0; index < 130; index += 1) {
    await insertChat(world.database, { ownerId: world.viewer.userId, updatedAt: daysAgo(40) });
  }
  expect(await archiveOf().archiveIdle()).toBe(130);
});

test("a chat that receives a message at that moment is not archived", async () => {
  await replica.worker.start();
  const chatId = await world.createChat(replica, "Hello");
  await world.until(chatId, isAtRest);
  await world.run("UPDATE chats SET updated_at = $2 WHERE id = $1", [chatId, daysAgo(40)]);
  await replica.worker.close();
  const { database } = world;
  // Between finding the chat and archiving it: the first transaction is the lock's, the second the chat's.
  let transactions = 0;
  const interrupted = Object.assign(Object.create(database) as typeof database, {
    query: (...asked: Parameters<typeof database.query>) => database.query(...asked),
    transaction: async (work: Parameters<typeof database.transaction>[0]) => {
      transactions += 1;
      if (transactions === 2) await world.send(replica, chatId, "Wait!");
      return database.transaction(work);
    },
  });
  expect(await archiveOf({ database: interrupted }).archiveIdle()).toBe(0);
  expect(await world.state(chatId)).toMatchObject({ status: "pending", isArchived: false });
});

test("only one server at a time archives chats", async () => {
  await insertChat(world.database, { ownerId: world.viewer.userId, updatedAt: daysAgo(40) });
  const meanwhile = await world.database.transaction(async (other) => {
    await tryAutoArchiveLock(other);
    return archiveOf().archiveIdle();
  });
  expect([meanwhile, await archiveOf().archiveIdle()]).toEqual([0, 1]);
});

test("it runs at the start and every hour, until it is closed", async () => {
  const ownerId = world.viewer.userId;
  const first = await insertChat(world.database, { ownerId, updatedAt: daysAgo(31) });
  const second = await insertChat(world.database, { ownerId, updatedAt: daysAgo(30) });
  const autoArchive = archiveOf();
  autoArchive.start();
  await world.until(first, ({ isArchived }) => isArchived);
  expect((await world.state(second)).isArchived).toBe(false);
  // The first run may not be quite over when the hour strikes; a later hour finds the chat then.
  while (!(await world.state(second)).isArchived) replica.clock.advance(3_600_000);
  await autoArchive.close();
  expect((await archived()).length).toBe(2);
});

test("an unarchived chat is not archived again at once", async () => {
  const chatId = await insertChat(world.database, { ownerId: world.viewer.userId, updatedAt: daysAgo(40) });
  expect(await archiveOf().archiveIdle()).toBe(1);
  await replica.commands.unarchiveChat(world.viewer, chatId);
  expect(await archiveOf().archiveIdle()).toBe(0);
});
