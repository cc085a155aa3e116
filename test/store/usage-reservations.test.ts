// Reservations of running calls against a limit, made by many at once.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Database, type Statement } from "../../src/store/common/database.js";
import { renewLease } from "../../src/store/chats/leases.js";
import {
  releaseReservation,
  type ReservationRequest,
  takeReservation,
} from "../../src/store/usage/usage-reservations.js";
import {
  readKnownLimits,
  readLimitStatus,
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

async function insertUser(): Promise<string> {
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

function reserve(ownerId: string, micros: bigint, more: Partial<ReservationRequest> = {}) {
  const request = { id: randomUUID(), ownerId, workerId, micros, lifeMs: 60_000, now: NOW };
  return takeReservation(db, { ...request, ...more });
}

test("concurrent reservations, the last excepted, stay below the limit", async () => {
  await limitAll(100n);
  const userId = await insertUser();
  await spend(userId, 30n, "2026-11-02T00:00:00Z");
  const answers = await Promise.all(Array.from({ length: 40 }, () => reserve(userId, 25n)));
  // 30 + 25 + 25 = 80 < 100, and one over the edge.
  expect(answers.filter(({ isTaken }) => isTaken)).toHaveLength(3);
  expect((await reserve(await insertUser(), 25n)).isTaken).toBe(true);
});

test("a released reservation makes the next one possible", async () => {
  await limitAll(10n);
  const userId = await insertUser();
  const id = randomUUID();
  const first = await reserve(userId, 10n, { id });
  const second = await reserve(userId, 1n);
  await releaseReservation(db, id);
  const third = await reserve(userId, 1n);
  expect([first.isTaken, second.isTaken, third.isTaken]).toEqual([true, false, true]);
});

test("reservations of a worker without a lease do not count, nor do expired ones", async () => {
  await limitAll(10n);
  const [one, other] = [await insertUser(), await insertUser()];
  const dead = await reserve(one, 10n, { workerId: randomUUID() });
  const late = await reserve(other, 10n, { workerId: null, lifeMs: 0 });
  expect([dead.isTaken, late.isTaken]).toEqual([true, true]);
  expect([(await reserve(one, 1n)).isTaken, (await reserve(other, 1n)).isTaken]).toEqual([true, true]);
});

test("a changed limit counts at once", async () => {
  await limitAll(10n);
  const userId = await insertUser();
  await spend(userId, 10n, "2026-11-18T00:00:00Z");
  expect(await reserve(userId, 1n)).toMatchObject({ isTaken: false, status: { limitMicros: 10n } });
  await setUsageLimitOverride(db, userId, 11n);
  expect(await reserve(userId, 1n)).toMatchObject({
    isTaken: true,
    status: { source: "user", limitMicros: 11n },
  });
  await setUsageLimitPolicy(db, { isEnabled: false, period: "month", defaultLimitMicros: 10n });
  expect(await reserve(userId, 1n)).toMatchObject({ isTaken: false, status: { limitMicros: null } });
});

test.each([
  ["day", 1n],
  ["week", 11n],
  ["month", 111n],
] as const)("only spending within the %s counts", async (period, spentMicros) => {
  await limitAll(1_000n, period);
  const userId = await insertUser();
  // It is a Wednesday.
  await spend(userId, 1n, "2026-11-18T00:00:00Z");
  await spend(userId, 10n, "2026-11-16T00:00:00Z");
  await spend(userId, 100n, "2026-11-01T00:00:00Z");
  await spend(userId, 1_000n, "2026-10-31T23:59:59.999Z");
  await spend(userId, 10_000n, "2026-12-01T00:00:00Z");
  expect((await readLimitStatus(db, userId, NOW)).spentMicros).toBe(spentMicros);
  expect((await reserve(userId, 1n)).status.spentMicros).toBe(spentMicros);
});

test("users with a limit of their own are listed only where the policy has none for all", async () => {
  const userId = await insertUser();
  await setUsageLimitOverride(db, userId, 5n);
  await limitAll(null);
  const without = await readKnownLimits(db);
  await limitAll(7n);
  const withDefault = await readKnownLimits(db);
  expect([without.limitedUserIds.has(userId), [...withDefault.limitedUserIds]]).toEqual([true, []]);
});

test("only ids and numbers become part of the statement", async () => {
  await limitAll(10n);
  const userId = await insertUser();
  await expect(reserve(`${userId}'; DROP TABLE users; --`, 1n)).rejects.toThrow("UUIDs");
  await expect(reserve(userId, 0n)).rejects.toThrow("above 0");
});
