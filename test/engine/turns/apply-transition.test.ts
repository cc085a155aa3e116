// Chat transitions: in one statement and under the lock, what is published, and what is cached.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SavedChange } from "../../../src/domain/chats/chat-events.js";
import type { UserMessage } from "../../../src/domain/chats/chat-state.js";
import type { Command } from "../../../src/domain/chats/transition.js";
import { applyTransition } from "../../../src/engine/transitions/apply-transition.js";
import { World, type Replica } from "../world.js";

let world: World;
let replica: Replica;
beforeAll(async () => {
  world = await World.open();
  replica = world.replica();
});
afterAll(() => world.close());

async function listen(chatId: string): Promise<SavedChange[]> {
  const published: SavedChange[] = [];
  await world.bus.subscribeChat(chatId, {
    saved: (change) => void published.push(change),
    live: () => undefined,
  });
  return published;
}

function userMessage(text: string): UserMessage {
  const parts = [{ type: "text" as const, text }];
  return {
    parts,
    authorId: world.viewer.userId,
    modelConfigId: null,
    reasoningEffort: null,
    mcpServerIds: null,
  };
}

function send(text: string): Command {
  return { type: "send-message", whenBusy: "queue", message: userMessage(text), queuedId: randomUUID() };
}

async function known(chatId: string) {
  return { ownerId: world.viewer.userId, state: await world.state(chatId) };
}

test("a known chat is changed in one statement, and the change is published with its rows", async () => {
  const chatId = await world.createChat(replica, "Hello");
  await applyTransition(replica.dependencies, { chatId, commands: [{ type: "interrupt" }] });
  const published = await listen(chatId);
  const before = await known(chatId);
  const { statements } = world.database.counters;
  const result = await applyTransition(replica.dependencies, {
    chatId,
    commands: [send("Again")],
    known: before,
  });
  expect(world.database.counters.statements - statements).toBe(1);
  const state = await world.state(chatId);
  const messages = (await world.history(chatId)).slice(1);
  expect(result).toEqual({ outcome: "changed", state, messages, queue: null });
  const { snapshotVersion: previousVersion, status, isArchived, titleVersion, diffVersion } = before.state;
  const listed = { status, isArchived, titleVersion, diffVersion };
  expect(published).toEqual([
    { chatId, ownerId: world.viewer.userId, previousVersion, before: listed, state, messages },
  ]);
});

test("an outdated known state leads to the lock, and the decision is made on the current state", async () => {
  const chatId = await world.createChat(replica, "Hello");
  const old = await known(chatId);
  await applyTransition(replica.dependencies, { chatId, commands: [{ type: "interrupt" }] });
  const result = await applyTransition(replica.dependencies, {
    chatId,
    commands: [send("Again")],
    known: old,
  });
  // To the old state, which is pending, the message would have joined the queue.
  expect(result).toMatchObject({ outcome: "changed", state: { status: "pending", queuedIds: [] } });
  expect(await world.historyLines(chatId)).toEqual(["user: Hello", "user: Again"]);
  const stale: Command = { type: "finish-turn", fence: { runnerId: randomUUID(), historyVersion: 1 } };
  expect(await applyTransition(replica.dependencies, { chatId, commands: [stale], known: old })).toEqual({
    outcome: "refused",
    reason: "stale_fence",
    state: await world.state(chatId),
  });
});

test("a chat that does not exist is not found, and a command without effect reports so", async () => {
  const gone = { chatId: randomUUID(), commands: [{ type: "interrupt" as const }] };
  expect(await applyTransition(replica.dependencies, gone)).toEqual({ outcome: "not_found" });
  const chatId = await world.createChat(replica, "Hello");
  await applyTransition(replica.dependencies, { ...gone, chatId });
  const published = await listen(chatId);
  expect(
    await applyTransition(replica.dependencies, { ...gone, chatId, known: await known(chatId) }),
  ).toEqual({
    outcome: "unchanged",
    state: await world.state(chatId),
  });
  expect(published).toEqual([]);
});

test("a failure alongside rolls back the change, and nothing is published", async () => {
  const chatId = await world.createChat(replica, "Hello");
  const before = { state: await world.state(chatId), history: await world.history(chatId) };
  const published = await listen(chatId);
  const alongside = () => Promise.reject(new Error("no"));
  const failing = applyTransition(replica.dependencies, { chatId, commands: [send("x")], alongside });
  await expect(failing).rejects.toThrow("no");
  expect({ state: await world.state(chatId), history: await world.history(chatId) }).toEqual(before);
  expect(published).toEqual([]);
});

test("a change with large messages is published without them, but this replica caches them; a queue is published as previews", async () => {
  const chatId = await world.createChat(replica, "Hello");
  await applyTransition(replica.dependencies, { chatId, commands: [{ type: "interrupt" }] });
  const published = await listen(chatId);
  const large = send("x".repeat(64 * 1024 + 1));
  await applyTransition(replica.dependencies, { chatId, commands: [large], known: await known(chatId) });
  await applyTransition(replica.dependencies, { chatId, commands: [large] });
  expect(published.map(({ messages, queue }) => ({ messages, queue }))).toEqual([
    { messages: null, queue: undefined },
    {
      messages: [],
      queue: [expect.objectContaining({ parts: userMessage("x".repeat(2_048)).parts, isCut: true })],
    },
  ]);
  expect(replica.dependencies.chatCache.get(chatId)?.history).toEqual(await world.history(chatId));
});

describe("many at once", () => {
  test("twenty messages sent together all arrive, once each, in the order of their versions", async () => {
    const chatId = await world.createChat(replica, "Hello");
    const published = await listen(chatId);
    const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    await Promise.all(texts.map((text) => world.send(replica, chatId, text)));
    const { queuedIds, snapshotVersion } = await world.state(chatId);
    expect([queuedIds.length, snapshotVersion]).toEqual([20, 21]);
    expect(published.map(({ state }) => state.snapshotVersion).sort((a, b) => a - b)).toEqual(
      texts.map((_, index) => index + 2),
    );
    const last = published.find(({ state }) => state.snapshotVersion === 21);
    expect(last?.queue?.map(({ id }) => id)).toEqual(queuedIds);
  });

  test("commands of all kinds from two replicas leave caches that agree with the database, or are empty", async () => {
    const other = world.replica();
    const chatId = await world.createChat(replica, "Hello");
    const kinds: (() => Command)[] = [
      () => send("more"),
      () => ({ type: "interrupt" }),
      () => ({ type: "archive" }),
      () => ({ type: "unarchive" }),
    ];
    for (let round = 0; round < 10; round += 1) {
      const messageId = (await world.history(chatId)).at(-1)?.id ?? "";
      const edit: Command = { type: "edit-message", messageId, message: userMessage("edited") };
      const commands = [...kinds.map((make) => make()), ...(round % 3 === 2 ? [edit] : []), send("end")];
      await Promise.allSettled(
        commands.map((command, index) => {
          const { dependencies } = index % 2 === round % 2 ? replica : other;
          const cached = dependencies.chatCache.get(chatId);
          return applyTransition(dependencies, {
            chatId,
            commands: [command],
            ...(cached ? { known: cached } : {}),
          });
        }),
      );
      const [state, history] = [await world.state(chatId), await world.history(chatId)];
      for (const { dependencies } of [replica, other]) {
        const cached = dependencies.chatCache.get(chatId);
        if (cached?.state.snapshotVersion !== state.snapshotVersion) continue;
        expect(cached.state).toEqual(state);
        if (cached.history) expect(cached.history).toEqual(history);
      }
    }
    const { snapshotVersion } = await world.state(chatId);
    expect(snapshotVersion).toBeGreaterThan(10);
  });
});
