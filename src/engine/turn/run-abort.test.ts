import { expect, test } from "vitest";
import { RunAbortController } from "./run-abort.js";

const interrupt = { kind: "interrupt" } as const;
const shutdown = { kind: "shutdown" } as const;
const lost = { kind: "ownership-lost" } as const;

test("the first reason counts, and is the reason of the signal", () => {
  const stop = new RunAbortController();
  const { signal } = stop;
  expect([stop.reason, signal.aborted]).toEqual([null, false]);
  stop.stop(interrupt);
  stop.stop(shutdown);
  expect([stop.reason, signal.aborted, signal.reason]).toEqual([interrupt, true, interrupt]);
});

test("loss of the lease replaces every other reason", () => {
  const stop = new RunAbortController();
  stop.stop(shutdown);
  stop.stop(lost);
  stop.stop(interrupt);
  expect(stop.reason).toEqual(lost);
});

test("only an interrupt can be reset, and the fresh signal can be aborted again", () => {
  const stop = new RunAbortController();
  stop.stop(interrupt);
  const old = stop.signal;
  stop.reset();
  expect([stop.reason, stop.signal.aborted, old.aborted]).toEqual([null, false, true]);
  stop.stop(shutdown);
  stop.reset();
  expect([stop.reason, stop.signal.aborted]).toEqual([shutdown, true]);
});

test("a shutdown during an interrupt survives the reset", () => {
  const stop = new RunAbortController();
  stop.stop(interrupt);
  stop.stop(shutdown);
  stop.reset();
  expect([stop.reason, stop.signal.aborted, stop.signal.reason]).toEqual([shutdown, true, shutdown]);
});
