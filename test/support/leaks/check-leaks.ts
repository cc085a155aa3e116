// Set-up of every test file: fails it when it leaves something open. Files share a process, so a leak would disturb the
// files after it, and in the end it is a server that does not close what it opened.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, vi } from "vitest";
import { leftSince, openNow } from "./leftovers.js";
import { timerTraces } from "./timer-traces.js";

/** A closed connection is gone a moment later, and an idle one of a pool after seconds. */
const ATTEMPTS = 750;
const INTERVAL_MS = 20;

const before = openNow();

// Registered first, and so run last.
afterAll(async () => {
  let left = leftSince(before);
  if (left.length === 0) return;
  vi.useRealTimers();
  // Not by `vi.waitFor`, whose own timers would be among what is left.
  for (let attempt = 0; attempt < ATTEMPTS && left.length > 0; attempt += 1) {
    await pause(INTERVAL_MS);
    left = leftSince(before);
  }
  if (left.length === 0) return;
  throw new Error([`This file leaves open: ${left.join("; ")}.`, ...timerTraces()].join("\n"));
});
