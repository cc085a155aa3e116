import { expect, test } from "vitest";
import type { LivePiece } from "../../domain/chats/chat-events.js";
import { ManualClock } from "../../../test/agent/manual-clock.js";
import { PieceWriter } from "./delta-batcher.js";

function start() {
  const clock = new ManualClock();
  const sent: LivePiece[][] = [];
  let intervalMs = 15;
  const announce = (pieces: LivePiece[]) => void sent.push(pieces);
  const writer = new PieceWriter("assistant", { clock, announce, pieceIntervalMs: () => intervalMs });
  return { clock, sent, writer, setInterval: (ms: number) => void (intervalMs = ms) };
}

const text = (append: string, partIndex = 0) => ({
  partIndex,
  piece: { type: "text-delta", append } as const,
});
const thought = (append: string, partIndex = 0) => ({
  partIndex,
  piece: { type: "reasoning-delta", append } as const,
});
const input = (toolCallId: string, append: string, partIndex = 0) => ({
  partIndex,
  piece: { type: "tool-input-delta", toolCallId, toolName: "t", append } as const,
});
const told = (sent: LivePiece[][]) =>
  sent.map((pieces) =>
    pieces.map(({ sequence, partIndex, piece }) => [
      sequence,
      partIndex,
      "append" in piece ? piece.append : piece.type,
    ]),
  );

test("the first piece goes out at once, those after it together, 15 ms later", () => {
  const { clock, sent, writer } = start();
  for (const words of ["a", "b", "c"]) writer.write(text(words));
  expect(told(sent)).toEqual([[[1, 0, "a"]]]);
  clock.advance(14);
  expect(told(sent)).toEqual([[[1, 0, "a"]]]);
  clock.advance(1);
  expect(told(sent)).toEqual([[[1, 0, "a"]], [[2, 0, "bc"]]]);
});

test("after a pause of 15 ms the next piece goes out at once", () => {
  const { clock, sent, writer } = start();
  writer.write(text("a"));
  clock.advance(15);
  writer.write(text("b"));
  expect(told(sent)).toEqual([[[1, 0, "a"]], [[2, 0, "b"]]]);
});

test("a fast stream goes out at most once each 15 ms, whole and in order", () => {
  const { clock, sent, writer } = start();
  for (let index = 0; index < 100; index += 1) {
    writer.write(text(`${index} `));
    clock.advance(1);
  }
  writer.flush();
  expect(sent.length).toBeLessThanOrEqual(8);
  const pieces = sent.flat();
  expect(pieces.map(({ sequence }) => sequence)).toEqual(pieces.map((_, index) => index + 1));
  expect(pieces.map(({ piece }) => ("append" in piece ? piece.append : "")).join("")).toBe(
    Array.from({ length: 100 }, (_, index) => `${index} `).join(""),
  );
});

test("only deltas of the same kind and part are joined", () => {
  const { sent, writer } = start();
  writer.write(text("first"));
  for (const piece of [
    thought("a"),
    thought("b"),
    text("c", 1),
    text("d", 2),
    input("x", "{", 3),
    input("x", "}", 3),
  ])
    writer.write(piece);
  writer.write({ partIndex: 3, piece: { type: "tool-call", toolCallId: "x", toolName: "t", arguments: {} } });
  writer.flush();
  expect(told(sent.slice(1))).toEqual([
    [
      [2, 0, "ab"],
      [3, 1, "c"],
      [4, 2, "d"],
      [5, 3, "{}"],
      [6, 3, "tool-call"],
    ],
  ]);
});

test("a flush sends what waits, once, and an empty one sends nothing", () => {
  const { clock, sent, writer } = start();
  writer.flush();
  writer.write(text("a"));
  writer.write(text("b"));
  writer.flush();
  writer.flush();
  clock.advance(1_000);
  expect(told(sent)).toEqual([[[1, 0, "a"]], [[2, 0, "b"]]]);
});

test("pieces that were sent do not change any more", () => {
  const { sent, writer } = start();
  writer.write(text("a"));
  const [first] = sent;
  writer.write(text("b"));
  writer.flush();
  expect(first).toEqual([
    { sequence: 1, role: "assistant", partIndex: 0, piece: { type: "text-delta", append: "a" } },
  ]);
});

test("a busy server's longer interval holds from the next piece on", () => {
  const { clock, sent, writer, setInterval } = start();
  writer.write(text("a"));
  setInterval(100);
  clock.advance(20);
  writer.write(text("b"));
  clock.advance(79);
  expect(told(sent)).toEqual([[[1, 0, "a"]]]);
  clock.advance(1);
  expect(told(sent)).toEqual([[[1, 0, "a"]], [[2, 0, "b"]]]);
});
