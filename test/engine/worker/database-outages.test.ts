// Turns during database outages: the process survives, what was paid for is saved once, and no chat is stuck.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { DatabaseUnavailable } from "../../../src/domain/common/outages.js";
import { systemClock } from "../../../src/lib/clock.js";
import { eventually } from "../../support/eventually.js";
import { isAtRest, World, type Replica } from "../world.js";

let world: World;
let calls = 0;
beforeAll(async () => {
  world = await World.open();
  await world.run("CREATE SEQUENCE kills");
  await world.run(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('kills') <= 3 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      RETURN NEW;
    END $$`);
});
afterAll(() => world.close());
const stops: (() => void)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const stop of stops.splice(0)) stop();
  await world.closeReplicas();
  await world.run("DROP TRIGGER IF EXISTS deadly ON chat_messages");
});

/** A worker in real time. */
async function start(adapt: (replica: Replica) => void = () => undefined): Promise<Replica> {
  calls = 0;
  world.answer = () => ({ text: "Yes.", ...((calls += 1) && {}) });
  const replica = world.replica();
  adapt(replica);
  stops.push(systemClock.every(10, () => replica.clock.advance(50)));
  await replica.worker.start();
  return replica;
}

const ANSWERED = ["user: Hello", "assistant: Yes."];

test("a connection that breaks between two statements of a transaction fails that transaction alone", async () => {
  const broken = world.database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ pid: number }>(
      { name: "test-pid", text: "SELECT pg_backend_pid() AS pid" },
      [],
    );
    await world.run("SELECT pg_terminate_backend($1)", [row?.pid]);
    // The connection is idle: only its own listener observes its end.
    await eventually(async () => {
      const left = await world.run("SELECT 1 FROM pg_stat_activity WHERE pid = $1", [row?.pid]);
      expect(left).toEqual([]);
    });
    await new Promise((resolve) => setImmediate(resolve));
    await transaction.query({ name: "test-one", text: "SELECT 1" }, []);
  });
  await expect(broken).rejects.toBeInstanceOf(DatabaseUnavailable);
  expect(await world.run("SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("an answer whose commit breaks off is saved when the database is back, and is not requested twice", async () => {
  await world.run(`CREATE TRIGGER deadly BEFORE INSERT ON chat_messages FOR EACH ROW
    WHEN (NEW.role = 'assistant') EXECUTE FUNCTION die()`);
  const replica = await start();
  const chatId = await world.createChat(replica, "Hello");
  expect(await world.until(chatId, isAtRest)).toMatchObject({ status: "waiting", lastError: null });
  expect([await world.historyLines(chatId), calls]).toEqual([ANSWERED, 1]);
  const [kills] = await world.run("SELECT last_value::int AS made FROM kills");
  expect(kills).toEqual({ made: 4 });
});

test("an answer that was committed but not published is found and published", async () => {
  const query = world.database.query.bind(world.database);
  let isLost = false;
  vi.spyOn(world.database, "query").mockImplementation(async (statement, values) => {
    const rows = await query(statement, values);
    if (statement.name !== "chat-move-insert" || isLost) return rows as never[];
    isLost = true;
    throw new DatabaseUnavailable(new Error("Connection terminated unexpectedly"));
  });
  const replica = await start();
  const chatId = await world.createChat(replica, "Hello");
  const settled = world.until(chatId, isAtRest);
  expect(await settled).toMatchObject({ status: "waiting", lastError: null });
  expect([isLost, await world.historyLines(chatId), calls]).toEqual([true, ANSWERED, 1]);
  await eventually(() => expect(replica.worker.runningChats).toBe(0));
  await world.send(replica, chatId, "Again");
  await world.until(chatId, (state) => isAtRest(state) && state.historyVersion > 3);
  expect(await world.historyLines(chatId)).toEqual([...ANSWERED, "user: Again", "assistant: Yes."]);
});

test("a turn that cannot read its input is released and claimed again, and does not fail", async () => {
  let failures = 0;
  const replica = await start(({ dependencies: { model } }) => {
    const { customPrompt } = model;
    model.customPrompt = (ownerId) => {
      if ((failures += 1) > 2) return customPrompt(ownerId);
      return Promise.reject(new DatabaseUnavailable(new Error("timeout exceeded when trying to connect")));
    };
  });
  const chatId = await world.createChat(replica, "Hello");
  expect(await world.until(chatId, isAtRest)).toMatchObject({ status: "waiting", lastError: null });
  expect([await world.historyLines(chatId), calls, failures]).toEqual([ANSWERED, 1, 3]);
});
