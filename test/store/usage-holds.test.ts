// What calls under way may still cost, held against a limit by many at once.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Database, type Statement } from "../../src/store/common/database.js";
import { renewLease } from "../../src/store/chats/leases.js";
import { dropHold, type HoldRequest, takeHold } from "../../src/store/usage/usage-reservations.js";
import {
  readKnownLimits,
  readLimitStanding,
  setUsageLimitOverride,
  setUsageLimitPolicy,
} from "../../src/store/usage/usage-limits.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { insertChat, insertViewer } from "../support/database/rows.js";

let own: TestDatabase;
let db: Database;
let workerId: string;
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
  workerId = randomUUID();
  await renewLease(db, workerId, 60_000);
});
afterAll(() => own.drop());
afterEach(() => setUsageLimitPolicy(db, { isEnabled: false, period: "month", defaultLimitMicros: null }));

const NOW = Date.UTC(2026, 10, 18, 12);

const limitAll = (defaultLimitMicros: bigint | null, period: "day" | "week" | "month" = "month") =>
  setUsageLimitPolicy(db, { isEnabled: true, period, defaultLimitMicros });

async function person(): Promise<string> {
  return (await insertViewer(db)).userId;
}

const SPEND: Statement = {
  name: "test.spend",
  text: `INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, model_config_id, cost_micros,
      revision, created_at) VALUES ($1, 'assistant', 'both', 1, '[]', $2, $3, 1, $4)`,
};

async function spend(userId: string, micros: bigint, at: string): Promise<void> {
  const chatId = await insertChat(db, { ownerId: userId });
  await db.query(SPEND, [chatId, randomUUID(), micros.toString(), at]);
}

function hold(ownerId: string, micros: bigint, more: Partial<HoldRequest> = {}) {
  const request = { id: randomUUID(), ownerId, workerId, micros, lifeMs: 60_000, now: NOW };
  return takeHold(db, { ...request, ...more });
}

test("however many ask at once, what is held beside the last stays below the limit", async () => {
  await limitAll(100n);
  const userId = await person();
  await spend(userId, 30n, "2026-11-02T00:00:00Z");
  const answers = await Promise.all(Array.from({ length: 40 }, () => hold(userId, 25n)));
  // 30 + 25 + 25 = 80 < 100, and one over the edge.
  expect(answers.filter(({ isTaken }) => isTaken)).toHaveLength(3);
  expect((await hold(await person(), 25n)).isTaken).toBe(true);
});

test("a hold that is given back makes room", async () => {
  await limitAll(10n);
  const userId = await person();
  const id = randomUUID();
  const first = await hold(userId, 10n, { id });
  const second = await hold(userId, 1n);
  await dropHold(db, id);
  const third = await hold(userId, 1n);
  expect([first.isTaken, second.isTaken, third.isTaken]).toEqual([true, false, true]);
});

test("holds of a worker whose lease has ended count no more, and neither do those whose time is over", async () => {
  await limitAll(10n);
  const [one, other] = [await person(), await person()];
  const dead = await hold(one, 10n, { workerId: randomUUID() });
  const late = await hold(other, 10n, { workerId: null, lifeMs: 0 });
  expect([dead.isTaken, late.isTaken]).toEqual([true, true]);
  expect([(await hold(one, 1n)).isTaken, (await hold(other, 1n)).isTaken]).toEqual([true, true]);
});

test("what counts is the limit of this moment", async () => {
  await limitAll(10n);
  const userId = await person();
  await spend(userId, 10n, "2026-11-18T00:00:00Z");
  expect(await hold(userId, 1n)).toMatchObject({ isTaken: false, standing: { limitMicros: 10n } });
  await setUsageLimitOverride(db, userId, 11n);
  expect(await hold(userId, 1n)).toMatchObject({
    isTaken: true,
    standing: { source: "user", limitMicros: 11n },
  });
  await setUsageLimitPolicy(db, { isEnabled: false, period: "month", defaultLimitMicros: 10n });
  expect(await hold(userId, 1n)).toMatchObject({ isTaken: false, standing: { limitMicros: null } });
});

test.each([
  ["day", 1n],
  ["week", 11n],
  ["month", 111n],
] as const)("of a %s only what was spent in it counts", async (period, spentMicros) => {
  await limitAll(1_000n, period);
  const userId = await person();
  // It is a Wednesday.
  await spend(userId, 1n, "2026-11-18T00:00:00Z");
  await spend(userId, 10n, "2026-11-16T00:00:00Z");
  await spend(userId, 100n, "2026-11-01T00:00:00Z");
  await spend(userId, 1_000n, "2026-10-31T23:59:59.999Z");
  await spend(userId, 10_000n, "2026-12-01T00:00:00Z");
  expect((await readLimitStanding(db, userId, NOW)).spentMicros).toBe(spentMicros);
  expect((await hold(userId, 1n)).standing.spentMicros).toBe(spentMicros);
});

test("whoever has a limit of their own is known by name only where everybody has none", async () => {
  const userId = await person();
  await setUsageLimitOverride(db, userId, 5n);
  await limitAll(null);
  const without = await readKnownLimits(db);
  await limitAll(7n);
  const withDefault = await readKnownLimits(db);
  expect([without.limitedUserIds.has(userId), [...withDefault.limitedUserIds]]).toEqual([true, []]);
});

test("nothing but ids and numbers gets into the statement", async () => {
  await limitAll(10n);
  const userId = await person();
  await expect(hold(`${userId}'; DROP TABLE users; --`, 1n)).rejects.toThrow("UUIDs");
  await expect(hold(userId, 0n)).rejects.toThrow("above 0");
});
