import { expect, test } from "vitest";
import { PeriodicJob } from "./periodic-job.js";

/** A clock with one timer, and runs whose end the test controls. */
function setUp() {
  let tick: (() => void) | null = null;
  const runs: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const errors: unknown[] = [];
  const job = new PeriodicJob({
    clock: {
      now: () => 0,
      after: () => () => undefined,
      every: (_ms, callback) => {
        tick = callback;
        return () => (tick = null);
      },
    },
    intervalMs: 1_000,
    run: () => new Promise<void>((resolve, reject) => runs.push({ resolve, reject })),
    onError: (error) => errors.push(error),
  });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { job, runs, errors, settle, tick: () => tick?.() };
}

test("runs never overlap, and one that fails is reported and followed by the next", async () => {
  const { job, runs, errors, settle, tick } = setUp();
  job.start({ immediately: false });
  expect(runs).toHaveLength(0);
  tick();
  tick();
  expect(runs).toHaveLength(1);
  const error = new Error("away");
  runs[0]?.reject(error);
  await settle();
  expect(errors).toEqual([error]);
  tick();
  expect(runs).toHaveLength(2);
});

test("the first run may begin immediately, and none begins after a stop", async () => {
  const { job, runs, settle, tick } = setUp();
  job.start({ immediately: true });
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  await settle();
  job.stop();
  tick();
  expect(runs).toHaveLength(1);
});

test("closing waits for the current run, which can see it", async () => {
  const { job, runs, settle } = setUp();
  job.start({ immediately: true });
  let isClosed = false;
  const closing = job.close().then(() => (isClosed = true));
  await settle();
  expect([job.isClosing, isClosed]).toEqual([true, false]);
  runs[0]?.resolve();
  await closing;
  expect(isClosed).toBe(true);
});
