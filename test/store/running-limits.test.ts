// Limits of chats that run at once: counted across replicas, shared fairly, and never passed however many grab at once.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { transition } from "../../src/domain/chats/chat-lifecycle.js";
import {
  ACQUIRE_LOCK,
  acquireLost,
  acquirePendingWithin,
  renewLease,
  type ClaimedChat,
} from "../../src/store/chats/leases.js";
import { World } from "../engine/world.js";
import { insertViewer } from "../support/database/rows.js";
import { newChat, NOW } from "./chats-fixture.js";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
afterEach(async () => {
  await world.run("DELETE FROM chats");
  await world.run("DELETE FROM worker_leases");
});

async function worker(): Promise<string> {
  const id = randomUUID();
  await renewLease(world.database, id, 60_000);
  return id;
}

/** Pending chats of a new user, one millisecond apart from `from` on. */
async function chatsOfSomebody(count: number, from = 0): Promise<string[]> {
  const { userId } = await insertViewer(world.database);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { chatId } = await newChat(world);
    const values = [chatId, userId, new Date(NOW + from + index)];
    await world.run("UPDATE chats SET owner_id = $2, updated_at = $3 WHERE id = $1", values);
    ids.push(chatId);
  }
  return ids;
}

async function take(limit: number, limits: { chats: number; chatsPerUser: number }): Promise<string[]> {
  const held = await acquirePendingWithin(world.database, await worker(), limit, limits);
  return held.map(({ chatId }) => chatId).sort();
}

const rest = (chatIds: string[]) =>
  world.run("UPDATE chats SET status = 'waiting', worker_id = NULL, runner_id = NULL WHERE id = ANY ($1)", [
    chatIds,
  ]);

test("a chat is acquired as the lifecycle says", async () => {
  const { state } = await newChat(world);
  const workerId = await worker();
  const [held] = await acquirePendingWithin(world.database, workerId, 1, { chats: 1, chatsPerUser: 0 });
  const runnerId = held?.state.runnerId ?? "";
  // The database's clock says when a generation begins that a statement of its own begins.
  const now = held?.state.generationStartedAt ?? NOW;
  const result = transition(state, { type: "acquire", workerId, runnerId, isLeaseDead: false }, now);
  expect(held?.state).toEqual(result.outcome === "changed" && result.next);
});

test("the longest waiting start first, and the next as soon as a slot is free", async () => {
  const chats = await chatsOfSomebody(5);
  const limits = { chats: 2, chatsPerUser: 0 };
  expect(await take(10, limits)).toEqual(chats.slice(0, 2).sort());
  expect(await take(10, limits)).toEqual([]);
  await rest(chats.slice(0, 1));
  expect(await take(10, limits)).toEqual([chats[2]]);
});

test("one user's many chats do not delay the first of another", async () => {
  const [first = "", second = "", third = ""] = await chatsOfSomebody(20);
  const [one = "", two = ""] = await chatsOfSomebody(2, 1_000);
  expect(await take(3, { chats: 0, chatsPerUser: 5 })).toEqual([first, second, one].sort());
  expect(await take(2, { chats: 5, chatsPerUser: 0 })).toEqual([third, two].sort());
});

test("each user has slots of their own", async () => {
  const [first, second] = [await chatsOfSomebody(4), await chatsOfSomebody(1)];
  const limits = { chats: 0, chatsPerUser: 2 };
  expect(await take(10, limits)).toEqual([...first.slice(0, 2), ...second].sort());
  expect(await take(10, limits)).toEqual([]);
  await rest(second);
  expect(await take(10, limits)).toEqual([]);
});

test("only running chats count, and lost ones are taken over regardless of the limits", async () => {
  const [lost = "", interrupted = "", next = "", ...others] = await chatsOfSomebody(5);
  const limits = { chats: 2, chatsPerUser: 2 };
  const dead = await worker();
  expect((await acquirePendingWithin(world.database, dead, 10, limits)).length).toBe(2);
  await world.run("UPDATE chats SET status = 'interrupting' WHERE id = $1", [interrupted]);
  expect(await take(10, limits)).toEqual([next]);
  expect(await take(10, limits)).toEqual([]);
  await world.run("UPDATE worker_leases SET expires_at = now() - interval '1 ms' WHERE worker_id = $1", [
    dead,
  ]);
  const taken = await acquireLost(world.database, await worker(), 10, []);
  expect(taken.map(({ chatId }) => chatId).sort()).toEqual([lost, interrupted].sort());
  expect(others.length).toBe(2);
});

test("workers that claim at the same moment stay within the limits together", async () => {
  const people = [];
  for (let person = 0; person < 3; person += 1) people.push(await chatsOfSomebody(8, person));
  const limits = { chats: 7, chatsPerUser: 3 };
  const workers = await Promise.all(Array.from({ length: 8 }, worker));
  const grab = async (): Promise<ClaimedChat[]> => {
    const grabs = workers.map((id) => acquirePendingWithin(world.database, id, 2, limits));
    return (await Promise.all(grabs)).flat();
  };
  for (let round = 0; round < 3; round += 1) {
    const held = (await grab()).map(({ chatId }) => chatId);
    const each = people.map((chats) => held.filter((id) => chats.includes(id)).length);
    expect([held.length, new Set(held).size, Math.max(...each)]).toEqual([7, 7, 3]);
    await rest(held);
  }
});

test("a worker that waited for another counts the chats that it claimed, also when another user's came first", async () => {
  const [first = "", second] = await chatsOfSomebody(2);
  const id = await worker();
  const statement = (text: string) => ({ name: `test-${randomUUID()}`, text });
  let taken: Promise<string[]> | undefined;
  await world.database.transaction(async (other) => {
    await other.query(statement("SELECT pg_advisory_xact_lock($1)"), [ACQUIRE_LOCK]);
    await other.query(
      statement("UPDATE chats SET status = 'running', worker_id = $2, runner_id = $2 WHERE id = $1"),
      [first, id],
    );
    // Without the lock this one would see no running chats, and another chat to claim first.
    await chatsOfSomebody(1, -1_000);
    taken = take(10, { chats: 1, chatsPerUser: 0 });
    await Promise.race([taken, somebodyWaitsForTheLock()]);
  });
  expect(await taken).toEqual([]);
  await rest([first]);
  expect(await take(10, { chats: 1, chatsPerUser: 0 })).not.toEqual([second]);
});

async function somebodyWaitsForTheLock(): Promise<void> {
  const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  while ((await world.run(waiting, [ACQUIRE_LOCK])).length === 0);
}

test("a chat whose row is locked is skipped, not waited for", async () => {
  const [locked, free] = await chatsOfSomebody(2);
  const taken = await world.database.transaction(async (transaction) => {
    const lock = { name: "test-lock", text: "SELECT 1 FROM chats WHERE id = $1 FOR UPDATE" };
    await transaction.query(lock, [locked]);
    return take(10, { chats: 0, chatsPerUser: 5 });
  });
  expect(taken).toEqual([free]);
});

test("an archived chat is never claimed, and only numbers and an id become part of the statement", async () => {
  await world.run("UPDATE chats SET archived_at = now() WHERE id = ANY ($1)", [await chatsOfSomebody(1)]);
  expect(await take(10, { chats: 3, chatsPerUser: 3 })).toEqual([]);
  const forged = acquirePendingWithin(world.database, "'; DROP TABLE chats", 1, {
    chats: 1,
    chatsPerUser: 1,
  });
  await expect(forged).rejects.toThrow("must be a UUID");
  await expect(
    acquirePendingWithin(world.database, randomUUID(), 1.5, { chats: 1, chatsPerUser: 1 }),
  ).rejects.toThrow("whole numbers");
});

test("claiming chats within limits is one round trip", async () => {
  await chatsOfSomebody(1);
  const id = await worker();
  const before = { ...world.database.counters };
  await acquirePendingWithin(world.database, id, 10, { chats: 3, chatsPerUser: 3 });
  expect(world.database.counters.transactions - before.transactions).toBe(1);
});

/** Makes the others subagents of the first. */
async function family([rootId, ...below]: string[]): Promise<void> {
  await world.run(
    `UPDATE chats SET parent_chat_id = $1, root_chat_id = $1, subagent_kind = 'general', depth = 1 WHERE id = ANY ($2)`,
    [rootId, below],
  );
}

test("a chat and its subagents take one slot, and never wait for one another", async () => {
  const [parent = "", ...below] = await chatsOfSomebody(3);
  await family([parent, ...below]);
  const [alone = ""] = await chatsOfSomebody(1, 1_000);
  const limits = { chats: 1, chatsPerUser: 1 };
  expect(await take(1, limits)).toEqual([parent]);
  expect(await take(10, limits)).toEqual(below.toSorted());
  await rest([parent, ...below.slice(0, 1)]);
  expect(await take(10, limits)).toEqual([]);
  await rest(below);
  expect(await take(10, limits)).toEqual([alone]);
});

test("subagents whose family is idle wait for a slot like any other chat", async () => {
  const members = await chatsOfSomebody(3);
  await family(members);
  const [parent = "", first = "", second = ""] = members;
  await rest([parent]);
  await take(1, { chats: 1, chatsPerUser: 0 });
  const [busy = ""] = await chatsOfSomebody(1, 1_000);
  expect(await take(10, { chats: 1, chatsPerUser: 0 })).toEqual([second]);
  await rest([first, second]);
  expect(await take(10, { chats: 1, chatsPerUser: 0 })).toEqual([busy]);
});
