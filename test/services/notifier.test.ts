// Push notifications for settled turns, with a manual clock.
import { afterEach, expect, test } from "vitest";
import { readUpdate } from "../../src/domain/chats/list-events.js";
import type { PushMessage, PushOutcome } from "../../src/domain/push/push.js";
import { READ_GRACE_MS, Notifier } from "../../src/services/push/notifier.js";
import { PushTargets } from "../../src/services/push/push-targets.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { createLog } from "../../src/lib/log.js";
import type { PushTarget } from "../../src/store/push/push.js";
import { ManualClock } from "../http/support.js";

const CHAT = { chatId: "00000000-0000-4000-8000-000000000001", ownerId: "ann", title: "Build" };
const REST = { kind: "finished" as const, parts: [{ type: "text" as const, text: "Done." }] };
const target = (id: string): PushTarget => ({
  id,
  endpoint: `https://push.example/${id}`,
  p256dh: "",
  auth: "",
});

let closing: Notifier | null = null;
afterEach(() => closing?.close());

function world({
  answers = {},
  first = [target("a")],
}: { answers?: Record<string, PushOutcome[]>; first?: PushTarget[] } = {}) {
  const log = createLog("silent");
  const [clock, bus] = [new ManualClock(), new MemoryBus(log)];
  const stored = new Map([["ann", first]]);
  const notified: [string, PushMessage][] = [];
  const removed: string[] = [];
  let reads = 0;
  const targets = new PushTargets({
    clock,
    list: async (userId) => {
      reads += 1;
      return [...(stored.get(userId) ?? [])];
    },
  });
  const notifier = new Notifier({
    ...{ bus, clock, log, targets },
    deliver: async ({ id }, message) => {
      notified.push([id, message]);
      return answers[id]?.shift() ?? { kind: "delivered" };
    },
    remove: async ({ id }) => void removed.push(id),
  });
  closing = notifier;
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    ...{ bus, clock, notifier, stored, targets, notified, removed, settle },
    reads: () => reads,
    /** Lets time pass, and what it wakes. */
    async pass(ms: number) {
      await settle();
      clock.advance(ms);
      await settle();
    },
    ids: () => notified.map(([id]) => id),
  };
}

const seen = () =>
  readUpdate({ chatId: CHAT.chatId, ownerId: "ann", status: "waiting", version: 3, markAdvance: 1 });

test("an unread turn is notified to each of the user's browsers", async () => {
  const { notifier, pass, ids, notified } = world({ first: [target("a"), target("b")] });
  notifier.onTurnSettled(CHAT, REST);
  await pass(READ_GRACE_MS - 1);
  expect(ids()).toEqual([]);
  await pass(1);
  expect(ids()).toEqual(["a", "b"]);
  expect(notified[0]?.[1]).toMatchObject({ title: "Build", body: "Done." });
});

test("a user who reads the chat, on any replica, is not notified", async () => {
  const { notifier, bus, pass, ids, settle } = world();
  notifier.onTurnSettled(CHAT, REST);
  await settle();
  bus.publishList("ann", {
    ...seen(),
    change: { type: "status", chatId: "another", status: "waiting", isUnread: false },
  });
  bus.publishList("ann", seen());
  await pass(READ_GRACE_MS);
  expect(ids()).toEqual([]);
});

test("users without a subscription cost one read, however many turns they have", async () => {
  const { notifier, pass, reads, clock } = world({ first: [] });
  for (let turn = 0; turn < 5; turn += 1) {
    notifier.onTurnSettled(CHAT, REST);
    await pass(READ_GRACE_MS);
  }
  expect([reads(), clock.pending()]).toEqual([1, 0]);
});

test("a browser registered during the wait is notified too, and a removed one is not", async () => {
  const { notifier, stored, targets, pass, ids, settle } = world();
  notifier.onTurnSettled(CHAT, REST);
  await settle();
  stored.set("ann", [target("b")]);
  targets.forget();
  await pass(READ_GRACE_MS);
  expect(ids()).toEqual(["b"]);
});

test("a read from before a change is not cached after it", async () => {
  const reading: ((targets: PushTarget[]) => void)[] = [];
  const targets = new PushTargets({
    clock: new ManualClock(),
    list: () => new Promise((resolve) => reading.push(resolve)),
  });
  const before = targets.of("ann");
  targets.forget();
  const after = targets.of("ann");
  reading[1]?.([target("new")]);
  reading[0]?.([]);
  expect([await before, await after, await targets.of("ann")]).toEqual([
    [],
    [target("new")],
    [target("new")],
  ]);
});

test("a busy service is retried after the delay that it asks for, a few times", async () => {
  const later = (retryAfterMs: number | null): PushOutcome => ({
    kind: "later",
    reason: "busy",
    retryAfterMs,
  });
  const { notifier, pass, ids } = world({
    answers: { a: [later(30_000), later(null), later(null), later(null)] },
  });
  notifier.onTurnSettled(CHAT, REST);
  await pass(READ_GRACE_MS);
  await pass(29_999);
  expect(ids()).toHaveLength(1);
  await pass(1);
  expect(ids()).toHaveLength(2);
  for (let wait = 0; wait < 5; wait += 1) await pass(60_000);
  expect(ids()).toHaveLength(4);
});

test.each([
  ["a refusal", { kind: "refused", reason: "HTTP 400" }, []],
  ["a wait of hours", { kind: "later", reason: "HTTP 429", retryAfterMs: 7_200_000 }, []],
  ["a browser that has withdrawn", { kind: "gone" }, ["a"]],
] as [string, PushOutcome, string[]][])("%s is not tried again", async (_, delivery, gone) => {
  const { notifier, pass, ids, removed } = world({ answers: { a: [delivery] } });
  notifier.onTurnSettled(CHAT, REST);
  await pass(READ_GRACE_MS);
  await pass(7_200_000);
  expect([ids(), removed]).toEqual([["a"], gone]);
});

test("closing does not wait for notifications", async () => {
  const { notifier, settle, ids } = world();
  notifier.onTurnSettled(CHAT, REST);
  await settle();
  await notifier.close();
  notifier.onTurnSettled(CHAT, REST);
  expect(ids()).toEqual([]);
});
