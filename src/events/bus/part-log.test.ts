import { expect, test } from "vitest";
import type { LivePiece } from "../../domain/chats/chat-events.js";
import { PartLog } from "./part-log.js";

const chatId = "chat";
const old = { historyVersion: 4, attempt: 1 };
const current = { historyVersion: 4, attempt: 2 };

function pieces(...sequences: number[]): LivePiece[] {
  return sequences.map((sequence) => ({
    sequence,
    role: "assistant",
    partIndex: 0,
    piece: { type: "text-delta", append: "x" },
  }));
}

test("a log gives back what was appended to its generation", () => {
  const log = new PartLog();
  log.append({ chatId, generation: current, pieces: pieces(1, 2) });
  log.append({ chatId, generation: current, pieces: pieces(3) });
  expect(log.read(chatId, current)).toEqual({ pieces: pieces(1, 2, 3), isCut: false, droppedUpTo: 0 });
});

test("a newer generation takes the place of the older, which is not written again", () => {
  const log = new PartLog();
  log.append({ chatId, generation: old, pieces: pieces(1) });
  log.append({ chatId, generation: current, pieces: pieces(1) });
  log.append({ chatId, generation: old, pieces: pieces(2) });
  expect([log.read(chatId, old), log.read(chatId, current)]).toEqual([
    null,
    { pieces: pieces(1), isCut: false, droppedUpTo: 0 },
  ]);
});

test("a log that has reached its bound says so and keeps its beginning, whatever comes later", () => {
  const log = new PartLog({ maxGenerationBytes: 2 * 129 });
  log.append({ chatId, generation: current, pieces: pieces(1, 2, 3) });
  log.append({ chatId, generation: current, pieces: pieces(4) });
  expect(log.read(chatId, current)).toEqual({ pieces: pieces(1, 2), isCut: true, droppedUpTo: 0 });
});

test("there is no log of a chat that nobody wrote to", () => {
  expect(new PartLog().read(chatId, current)).toBeNull();
});
