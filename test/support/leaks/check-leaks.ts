// Set-up of every test file: fails it when it leaves something open. Files share a process, so a leak would disturb the
// files after it, and in the end it is a server that does not close what it opened.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, vi } from "vitest";
import { leftSince, openNow } from "./leftovers.js";
import { timerTraces } from "./timer-traces.js";

/** A closed connection is gone a moment later, and an idle one of a pool after seconds. */
const ATTEMPTS = 750;
const INTERVAL_MS = 20;
const MAX_NAMED = 20;

/**
 * Folders that may leave something open, because they have not been run with this check yet. Remove a line when its
 * files pass without it; add none.
 */
const NOT_YET = [
  ...["test/agent/", "test/workspaces/", "test/mcp/", "test/engine/", "test/store/", "test/soak/"],
  ...["test/cli/", "test/examples/", "test/git-hosts/", "test/lib/", "test/push/"],
  ...["test/api/workspaces/", "test/api/git/", "test/api/mcp/", "test/api/files/", "test/api/models/"],
  "test/api/rights/",
];

const before = openNow();

// Registered first, and so run last.
afterAll(async () => {
  let left = leftSince(before);
  if (left.length === 0 || isExcepted()) return;
  vi.useRealTimers();
  // Not by `vi.waitFor`, whose own timers would be among what is left.
  for (let attempt = 0; attempt < ATTEMPTS && left.length > 0; attempt += 1) {
    await pause(INTERVAL_MS);
    left = leftSince(before);
  }
  if (left.length === 0) return;
  const more = left.length > MAX_NAMED ? `; and ${left.length - MAX_NAMED} more` : "";
  const text = `This file leaves open: ${left.slice(0, MAX_NAMED).join("; ")}${more}.`;
  throw new Error([text, ...timerTraces().slice(0, MAX_NAMED)].join("\n"));
});

function isExcepted(): boolean {
  const { testPath = "" } = expect.getState();
  return NOT_YET.some((folder) => testPath.includes(`/${folder}`));
}
