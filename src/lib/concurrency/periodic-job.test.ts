import { expect, test } from "vitest";
import { Rounds } from "./periodic-job.js";

/** A clock with one timer, and rounds that end when the test says so. */
function world() {
  let tick: (() => void) | null = null;
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const failures: unknown[] = [];
  const rounds = new Rounds({
    clock: {
      now: () => 0,
      after: () => () => undefined,
      every: (_ms, callback) => {
        tick = callback;
        return () => (tick = null);
      },
    },
    everyMs: 1_000,
    round: () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
    failed: (error) => failures.push(error),
  });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { rounds, ends, failures, settle, tick: () => tick?.() };
}

test("rounds never overlap, and one that fails is told and followed by the next", async () => {
  const { rounds, ends, failures, settle, tick } = world();
  rounds.start({ atOnce: false });
  expect(ends).toHaveLength(0);
  tick();
  tick();
  expect(ends).toHaveLength(1);
  const error = new Error("away");
  ends[0]?.reject(error);
  await settle();
  expect(failures).toEqual([error]);
  tick();
  expect(ends).toHaveLength(2);
});

test("the first round may begin at once, and after a rest none begins", async () => {
  const { rounds, ends, settle, tick } = world();
  rounds.start({ atOnce: true });
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  await settle();
  rounds.rest();
  tick();
  expect(ends).toHaveLength(1);
});

test("closing waits for the round under way, which can see it", async () => {
  const { rounds, ends, settle } = world();
  rounds.start({ atOnce: true });
  let isClosed = false;
  const closing = rounds.close().then(() => (isClosed = true));
  await settle();
  expect([rounds.isClosing, isClosed]).toEqual([true, false]);
  ends[0]?.resolve();
  await closing;
  expect(isClosed).toBe(true);
});
