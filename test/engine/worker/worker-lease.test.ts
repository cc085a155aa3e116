// A worker with a database that is slow, locked or unavailable: it keeps its lease, claims each chat once, and loses nothing.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.js";
import { eventually } from "../../support/eventually.js";
import { isAtRest, World, type Replica } from "../world.js";

/** Real time in which a lease ends, and in which a batch is taken from the slow database. */
const LEASE_MS = 400;
const SLOW_ROW_S = 0.06;
const LOST_CHATS = 25;

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
const stops: (() => void)[] = [];
afterEach(async () => {
  await world.closeReplicas();
  for (const stop of stops.splice(0)) stop();
  await world.run("DROP TRIGGER IF EXISTS slow ON chats");
});

/** A worker in real time, as the database's clock decides about leases. */
async function startLive(): Promise<Replica> {
  const replica = world.replica({ settings: { leaseMs: LEASE_MS, heartbeatMs: LEASE_MS / 4 } });
  stops.push(systemClock.every(10, () => replica.clock.advance(10)));
  await replica.worker.start();
  return replica;
}

/** Running chats of a worker that has died. */
async function leaveChats(count: number): Promise<string[]> {
  const maker = world.replica();
  const chats = await Promise.all(
    Array.from({ length: count }, (_, number) => world.createChat(maker, `Chat ${number}`)),
  );
  await world.run(
    `UPDATE chats SET status = 'running', worker_id = $2, runner_id = gen_random_uuid(), attempt = 1,
      snapshot_version = 2, status_version = 2 WHERE id = ANY ($1::uuid[])`,
    [chats, randomUUID()],
  );
  return chats;
}

test("a worker whose takeover lasts longer than its lease claims each chat once, and all are answered", async () => {
  let calls = 0;
  world.answer = () => ({ text: "Yes.", ...((calls += 1) && {}) });
  const chats = await leaveChats(LOST_CHATS);
  await world.run(`CREATE OR REPLACE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(${SLOW_ROW_S}); RETURN NEW; END $$`);
  await world.run(`CREATE TRIGGER slow BEFORE UPDATE ON chats FOR EACH ROW
    WHEN (NEW.worker_id IS DISTINCT FROM OLD.worker_id AND NEW.worker_id IS NOT NULL) EXECUTE FUNCTION be_slow()`);
  await startLive();
  await eventually(async () => {
    if (calls > 2 * LOST_CHATS) return;
    const states = await Promise.all(chats.map((chatId) => world.state(chatId)));
    expect(states.every(isAtRest)).toBe(true);
  });
  expect(calls).toBe(LOST_CHATS);
  const histories = await Promise.all(chats.map((chatId) => world.historyLines(chatId)));
  expect(histories).toEqual(chats.map((_, number) => [`user: Chat ${number}`, "assistant: Yes."]));
});

test("a worker keeps its lease while the chats table can be neither read nor written", async () => {
  world.answer = () => ({ text: "Yes." });
  const live = await startLive();
  const alive = async () => {
    const [row] = await world.run(
      "SELECT expires_at > clock_timestamp() AS is_alive, expires_at FROM worker_leases WHERE worker_id = $1",
      [live.worker.id],
    );
    return row;
  };
  const chatId = await world.createChat(live, "Hello");
  await world.database.transaction(async (transaction) => {
    await transaction.query(
      { name: "test-lock-chats", text: "LOCK TABLE chats IN ACCESS EXCLUSIVE MODE" },
      [],
    );
    const before = await alive();
    await eventually(async () => {
      const now = await alive();
      expect(Number(now?.["expires_at"])).toBeGreaterThan(Number(before?.["expires_at"]) + 2 * LEASE_MS);
    });
    expect(await alive()).toMatchObject({ is_alive: true });
  });
  expect(await world.until(chatId, isAtRest)).toMatchObject({ status: "waiting", lastError: null });
  expect(await world.historyLines(chatId)).toEqual(["user: Hello", "assistant: Yes."]);
});
