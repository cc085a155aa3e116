import { expect, test } from "vitest";
import type { LiveDelta } from "../../domain/chats/chat-events.js";
import { PartLog } from "./part-log.js";

const chatId = "chat";
const old = { historyVersion: 4, attempt: 1 };
const current = { historyVersion: 4, attempt: 2 };

function deltas(...sequences: number[]): LiveDelta[] {
  return sequences.map((sequence) => ({
    sequence,
    role: "assistant",
    partIndex: 0,
    delta: { type: "text-delta", append: "x" },
  }));
}

test("a log returns what was appended to its generation", () => {
  const log = new PartLog();
  log.append({ chatId, generation: current, deltas: deltas(1, 2) });
  log.append({ chatId, generation: current, deltas: deltas(3) });
  expect(log.read(chatId, current)).toEqual({ deltas: deltas(1, 2, 3), isCut: false, droppedUpTo: 0 });
});

test("a newer generation replaces the older one, whose later deltas are ignored", () => {
  const log = new PartLog();
  log.append({ chatId, generation: old, deltas: deltas(1) });
  log.append({ chatId, generation: current, deltas: deltas(1) });
  log.append({ chatId, generation: old, deltas: deltas(2) });
  expect([log.read(chatId, old), log.read(chatId, current)]).toEqual([
    null,
    { deltas: deltas(1), isCut: false, droppedUpTo: 0 },
  ]);
});

test("a log that has reached its bound is marked as cut and retains its beginning", () => {
  const log = new PartLog({ maxGenerationBytes: 2 * 129 });
  log.append({ chatId, generation: current, deltas: deltas(1, 2, 3) });
  log.append({ chatId, generation: current, deltas: deltas(4) });
  expect(log.read(chatId, current)).toEqual({ deltas: deltas(1, 2), isCut: true, droppedUpTo: 0 });
});

test("a chat without deltas has no log", () => {
  expect(new PartLog().read(chatId, current)).toBeNull();
});
