import { expect, test } from "vitest";
import { ManualClock } from "../../../test/http/support.js";
import type { Queryable } from "../../store/common/database.js";
import { type Reads, ReadShares } from "./read-shares.js";

/** A database whose statements finish when `answer` is called. */
function pausedDatabase() {
  const waiting: (() => void)[] = [];
  const database: Reads = {
    query: () => new Promise((resolve) => waiting.push(() => resolve([]))),
    transaction: (work) => work(undefined as never as Queryable),
  };
  return { database, waiting, answer: () => waiting.splice(0).forEach((resolve) => resolve()) };
}

const STATEMENT = { name: "any", text: "SELECT 1" };
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a viewer's statements run a few at a time, and delay no other viewer's", async () => {
  const { database, waiting, answer } = pausedDatabase();
  const shares = new ReadShares(database, new ManualClock(), {
    maxRunning: 2,
    maxWaiting: 10,
    waitMs: 1_000,
  });
  const reads = [1, 2, 3].map(() => shares.of("a").query(STATEMENT, []));
  await settled();
  expect(waiting).toHaveLength(2);
  const other = shares.of("b").query(STATEMENT, []);
  await settled();
  expect(waiting).toHaveLength(3);
  answer();
  await settled();
  answer();
  await Promise.all([...reads, other]);
});

test("one that waits too long, or behind too many, fails with a code; one that fails releases its slot", async () => {
  const { database, answer } = pausedDatabase();
  const clock = new ManualClock();
  const shares = new ReadShares(database, clock, { maxRunning: 1, maxWaiting: 1, waitMs: 1_000 });
  const failing = shares.of("a").transaction(() => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  const first = shares.of("a").query(STATEMENT, []);
  await settled();
  const late = expect(shares.of("a").query(STATEMENT, [])).rejects.toMatchObject({
    extensions: { code: "UNAVAILABLE" },
  });
  await expect(shares.of("a").query(STATEMENT, [])).rejects.toMatchObject({
    extensions: { code: "UNAVAILABLE" },
  });
  clock.advance(1_000);
  await late;
  answer();
  await first;
});
