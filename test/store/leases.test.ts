// Who holds which chat: the statements of acquisition against the pure decision, and against each other.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { transition } from "../../src/domain/chats/chat-lifecycle.js";
import type { ChatState } from "../../src/domain/chats/chat-state.js";
import type { Command } from "../../src/domain/chats/transition.js";
import { readChat } from "../../src/store/chats/chat-source.js";
import {
  acquireLost,
  acquirePending,
  acquirePendingWithin,
  chatsPastDeadline,
  dropLease,
  endUnconnectedLeases,
  forgetDeadLeases,
  leaseConnectionName,
  readClaimedChats,
  renewLease,
  type ClaimedChat,
} from "../../src/store/chats/leases.js";
import { World } from "../engine/world.js";
import { apply, newChat, NOW, said } from "./chats-fixture.js";

const LEASE_MS = 60_000;
let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
afterEach(async () => {
  await world.run("DELETE FROM chats");
  await world.run("DELETE FROM worker_leases");
});

/** A worker with a living lease. */
async function worker(): Promise<string> {
  const id = randomUUID();
  await renewLease(world.database, id, LEASE_MS);
  return id;
}

const kill = (workerId: string) =>
  world.run("UPDATE worker_leases SET expires_at = now() - interval '1 ms' WHERE worker_id = $1", [workerId]);

const fence = ({ runnerId, historyVersion }: ChatState) => ({ runnerId: runnerId ?? "", historyVersion });

/** What the lifecycle makes of an acquisition by the runner that the database chose. */
function acquired(before: ChatState, { state }: ClaimedChat, isLeaseDead: boolean): ChatState {
  const { workerId, runnerId } = state;
  if (workerId === null || runnerId === null) throw new Error("A claimed chat has a worker and a runner.");
  // The database's clock says when a generation begins that a statement of its own begins.
  const now = state.generationStartedAt ?? NOW;
  const result = transition(before, { type: "acquire", workerId, runnerId, isLeaseDead }, now);
  if (result.outcome !== "changed") throw new Error("The lifecycle refuses what the database did.");
  return result.next;
}

test("a pending chat is acquired as the lifecycle says", async () => {
  const chat = await newChat(world);
  const message = said(world, "More");
  const before = await apply(world, chat, [
    { type: "send-message", whenBusy: "queue", message, queuedId: randomUUID() },
  ]);
  const [held] = await acquirePending(world.database, await worker(), 10);
  if (!held) throw new Error("Nothing was acquired.");
  expect(held).toEqual({
    chatId: chat.chatId,
    ownerId: world.viewer.userId,
    modelConfigId: world.modelConfigId,
    workspaceId: null,
    reasoningEffort: null,
    clientTools: [],
    mcpServerIds: [],
    parentChatId: null,
    rootChatId: chat.chatId,
    subagentKind: null,
    depth: 0,
    waitedSeconds: expect.any(Number),
    state: acquired(before.state, held, false),
  });
  expect((await readChat(world.database, chat.chatId))?.state).toEqual(held.state);
});

test("a lost chat is acquired as the lifecycle says, running, waiting to retry, interrupting or archived", async () => {
  const dead = await worker();
  const ways: ((state: ChatState) => Command[][])[] = [
    () => [],
    (state) => [
      [{ type: "begin-attempt", fence: fence(state) }],
      [
        {
          type: "record-retry",
          fence: fence(state),
          delayMs: 1,
          failure: { kind: "timeout", message: "Slow.", isRetryable: true },
        },
      ],
    ],
    () => [[{ type: "interrupt" }]],
    () => [[{ type: "archive" }]],
  ];
  const before = new Map<string, ChatState>();
  for (const way of ways) {
    const { chatId } = await newChat(world);
    const [held] = await acquirePending(world.database, dead, 1);
    if (!held) throw new Error("Nothing was acquired.");
    let moved: { chatId: string; state: ChatState } = { chatId, state: held.state };
    for (const commands of way(held.state)) moved = await apply(world, moved, commands);
    before.set(chatId, moved.state);
  }
  const heir = await worker();
  expect(await acquireLost(world.database, heir, 10, [])).toEqual([]);
  await kill(dead);
  const taken = await acquireLost(world.database, heir, 10, []);
  expect(new Map(taken.map((held) => [held.chatId, held.state]))).toEqual(
    new Map(taken.map((held) => [held.chatId, acquired(before.get(held.chatId) as ChatState, held, true)])),
  );
  expect(taken.map(({ chatId }) => chatId).sort()).toEqual([...before.keys()].sort());
});

test("workers that claim at once get different chats, the longest waiting first, and never an archived one", async () => {
  const chats: string[] = [];
  for (let index = 0; index < 30; index += 1) chats.push((await newChat(world)).chatId);
  for (const [index, chatId] of chats.entries()) {
    await world.run("UPDATE chats SET updated_at = $2 WHERE id = $1", [chatId, new Date(NOW + index)]);
  }
  await world.run("UPDATE chats SET archived_at = now() WHERE id = $1", [chats.shift()]);
  const first = await acquirePending(world.database, await worker(), 4);
  expect(first.map(({ chatId }) => chatId).sort()).toEqual(chats.slice(0, 4).sort());
  const workers = await Promise.all(Array.from({ length: 6 }, worker));
  const grabs = await Promise.all(workers.map((id) => acquirePending(world.database, id, 7)));
  const grabbed = grabs.flat().map(({ chatId }) => chatId);
  expect([grabbed.length, new Set(grabbed).size]).toEqual([25, 25]);
});

test("a chat whose row is locked is skipped, not waited for", async () => {
  const [locked, free] = [await newChat(world), await newChat(world)];
  const id = await worker();
  const taken = await world.database.transaction(async (transaction) => {
    const lock = { name: "test-lock", text: "SELECT 1 FROM chats WHERE id = $1 FOR UPDATE" };
    await transaction.query(lock, [locked.chatId]);
    return acquirePending(world.database, id, 10);
  });
  expect(taken.map(({ chatId }) => chatId)).toEqual([free.chatId]);
});

test("a runner that lost its chat cannot commit any more, on either path", async () => {
  const dead = await worker();
  const { chatId } = await newChat(world);
  const [old] = await acquirePending(world.database, dead, 1);
  await kill(dead);
  const [taken] = await acquireLost(world.database, await worker(), 1, []);
  if (!old || !taken) throw new Error("Nothing was acquired.");
  const commands: Command[] = [{ type: "finish-turn", fence: fence(old.state) }];
  expect((await apply(world, { chatId, state: old.state }, commands, "one statement")).rows).toBeNull();
  expect(transition(taken.state, { type: "finish-turn", fence: fence(old.state) }, NOW)).toEqual({
    outcome: "refused",
    reason: "stale_fence",
  });
  expect((await readChat(world.database, chatId))?.state).toEqual(taken.state);
});

test("a worker's own orphans are claimed again, but not the chats of a living worker", async () => {
  const [mine, theirs] = [await worker(), await worker()];
  const [first, second] = [await newChat(world), await newChat(world)];
  const [orphan] = await acquirePending(world.database, mine, 1);
  await acquirePending(world.database, theirs, 1);
  const taken = await acquireLost(world.database, mine, 10, [first.chatId, second.chatId]);
  expect(taken.map(({ chatId, state }) => [chatId, state.workerId])).toEqual([[orphan?.chatId, mine]]);
  expect(taken[0]?.state.runnerId).not.toBe(orphan?.state.runnerId);
});

test("a worker whose own lease has ended claims nothing, not even its own chats", async () => {
  const [id, dead] = [await worker(), await worker()];
  for (let count = 0; count < 3; count += 1) await newChat(world);
  const [own] = await acquirePending(world.database, id, 1);
  await acquirePending(world.database, dead, 1);
  const takings = {
    pending: () => acquirePending(world.database, id, 10),
    "pending within limits": () =>
      acquirePendingWithin(world.database, id, 10, { chats: 9, chatsPerUser: 0 }),
    lost: () => acquireLost(world.database, id, 10, [own?.chatId ?? ""]),
  };
  await kill(dead);
  await kill(id);
  for (const [name, take] of Object.entries(takings)) expect(await take(), name).toEqual([]);
  await renewLease(world.database, id, LEASE_MS);
  expect((await acquireLost(world.database, id, 10, [])).length, "the dead one's alone").toBe(1);
  expect((await takings.lost()).map(({ chatId }) => chatId)).toEqual([own?.chatId]);
  expect((await takings["pending within limits"]()).length).toBe(1);
});

test("of the workers on an embedded database only those that are connected keep their leases", async () => {
  const [connected, gone] = [await worker(), await worker()];
  const connection = world.database.reserve(leaseConnectionName(connected), 10_000);
  expect(await renewLease(connection, connected, LEASE_MS)).toBe(true);
  expect(await endUnconnectedLeases(world.database)).toBe(1);
  const left = await world.run("SELECT worker_id FROM worker_leases");
  expect([left, gone === connected]).toEqual([[{ worker_id: connected }], false]);
  await connection.close();
});

test("a renewed lease lives, a dropped one is dead at once, and only long dead ones are deleted", async () => {
  const [id, heir] = [await worker(), await worker()];
  const { chatId } = await newChat(world);
  const [held] = await acquirePending(world.database, id, 1);
  await kill(id);
  expect(await renewLease(world.database, id, LEASE_MS)).toBe(false);
  expect(await renewLease(world.database, id, LEASE_MS)).toBe(true);
  expect(await readClaimedChats(world.database, id)).toEqual([
    { ...held, waitedSeconds: expect.any(Number) },
  ]);
  expect(await acquireLost(world.database, heir, 10, [])).toEqual([]);
  await dropLease(world.database, id);
  expect((await acquireLost(world.database, heir, 10, [])).map((chat) => chat.chatId)).toEqual([chatId]);
  expect(await renewLease(world.database, id, LEASE_MS)).toBe(false);
  expect(await readClaimedChats(world.database, id)).toEqual([]);
  await world.run("UPDATE worker_leases SET expires_at = now() - interval '25 hours'");
  await renewLease(world.database, id, -3_600_000);
  await forgetDeadLeases(world.database);
  const left = await world.run("SELECT worker_id FROM worker_leases ORDER BY 1");
  // The heir's is old enough, but a chat still names it.
  expect(left.map((lease) => lease["worker_id"])).toEqual([id, heir].sort());
});

test("chats past their client's deadline are found, the longest overdue first", async () => {
  const waiting: [string, ChatState][] = [];
  const id = await worker();
  for (let index = 0; index < 3; index += 1) {
    const { chatId } = await newChat(world);
    const [held] = await acquirePending(world.database, id, 1);
    if (!held) throw new Error("Nothing was acquired.");
    const call = { toolCallId: "a", toolName: "t", isClient: true, arguments: {} };
    const own = fence(held.state);
    const { state } = await apply(world, { chatId, state: held.state }, [
      { type: "commit-step", fence: own, messages: [], openCalls: [call] },
      { type: "await-client", fence: own },
    ]);
    waiting.push([chatId, state]);
  }
  const deadline = waiting[0]?.[1].actionDeadlineAt ?? 0;
  await world.run("UPDATE chats SET action_deadline_at = action_deadline_at - interval '1 s' WHERE id = $1", [
    waiting[2]?.[0],
  ]);
  expect(await chatsPastDeadline(world.database, deadline - 1_001, 10)).toEqual([]);
  expect(await chatsPastDeadline(world.database, deadline - 1, 10)).toEqual([waiting[2]?.[0]]);
  expect((await chatsPastDeadline(world.database, deadline, 2))[0]).toBe(waiting[2]?.[0]);
  expect(await chatsPastDeadline(world.database, deadline, 10)).toHaveLength(3);
});
