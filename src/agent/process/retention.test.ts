import { expect, test } from "vitest";
import { EXITED_RETENTION_MS, findEvictable, KEYED_RETENTION_MS, MAX_PROCESSES } from "./retention.js";

const NOW_MS = 10_000_000_000;

test("ended processes are forgotten after their time, keyed ones later, running ones never", () => {
  const processes = [
    { id: "running", isKeyed: false, exitedAtMs: undefined },
    { id: "fresh", isKeyed: false, exitedAtMs: NOW_MS - EXITED_RETENTION_MS },
    { id: "old", isKeyed: false, exitedAtMs: NOW_MS - EXITED_RETENTION_MS - 1 },
    { id: "keyed", isKeyed: true, exitedAtMs: NOW_MS - EXITED_RETENTION_MS - 1 },
    { id: "old keyed", isKeyed: true, exitedAtMs: NOW_MS - KEYED_RETENTION_MS - 1 },
  ];
  expect(findEvictable(processes, NOW_MS).sort()).toEqual(["old", "old keyed"]);
});

test("when there are too many, those that ended first go first", () => {
  const ended = Array.from({ length: MAX_PROCESSES }, (_, index) => ({
    id: `ended ${index}`,
    isKeyed: false,
    exitedAtMs: NOW_MS - index,
  }));
  const running = { id: "running", isKeyed: false, exitedAtMs: undefined };
  expect(findEvictable([running, ...ended], NOW_MS)).toEqual([
    `ended ${MAX_PROCESSES - 1}`,
    `ended ${MAX_PROCESSES - 2}`,
  ]);
});
