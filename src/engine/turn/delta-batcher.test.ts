import { expect, test } from "vitest";
import type { LiveDelta } from "../../domain/chats/chat-events.js";
import { ManualClock } from "../../../test/agent/manual-clock.js";
import { DeltaBatcher } from "./delta-batcher.js";

function start() {
  const clock = new ManualClock();
  const sent: LiveDelta[][] = [];
  let intervalMs = 15;
  const publish = (deltas: LiveDelta[]) => void sent.push(deltas);
  const writer = new DeltaBatcher("assistant", { clock, publish, deltaIntervalMs: () => intervalMs });
  return { clock, sent, writer, setInterval: (ms: number) => void (intervalMs = ms) };
}

const text = (append: string, partIndex = 0) => ({
  partIndex,
  delta: { type: "text-delta", append } as const,
});
const thought = (append: string, partIndex = 0) => ({
  partIndex,
  delta: { type: "reasoning-delta", append } as const,
});
const input = (toolCallId: string, append: string, partIndex = 0) => ({
  partIndex,
  delta: { type: "tool-input-delta", toolCallId, toolName: "t", append } as const,
});
const contentOf = (sent: LiveDelta[][]) =>
  sent.map((deltas) =>
    deltas.map(({ sequence, partIndex, delta }) => [
      sequence,
      partIndex,
      "append" in delta ? delta.append : delta.type,
    ]),
  );

test("the first delta is published at once, the following together, 15 ms later", () => {
  const { clock, sent, writer } = start();
  for (const words of ["a", "b", "c"]) writer.write(text(words));
  expect(contentOf(sent)).toEqual([[[1, 0, "a"]]]);
  clock.advance(14);
  expect(contentOf(sent)).toEqual([[[1, 0, "a"]]]);
  clock.advance(1);
  expect(contentOf(sent)).toEqual([[[1, 0, "a"]], [[2, 0, "bc"]]]);
});

test("after a pause of 15 ms the next delta is published at once", () => {
  const { clock, sent, writer } = start();
  writer.write(text("a"));
  clock.advance(15);
  writer.write(text("b"));
  expect(contentOf(sent)).toEqual([[[1, 0, "a"]], [[2, 0, "b"]]]);
});

test("a fast stream is published at most once per 15 ms, complete and in order", () => {
  const { clock, sent, writer } = start();
  for (let index = 0; index < 100; index += 1) {
    writer.write(text(`${index} `));
    clock.advance(1);
  }
  writer.flush();
  expect(sent.length).toBeLessThanOrEqual(8);
  const deltas = sent.flat();
  expect(deltas.map(({ sequence }) => sequence)).toEqual(deltas.map((_, index) => index + 1));
  expect(deltas.map(({ delta }) => ("append" in delta ? delta.append : "")).join("")).toBe(
    Array.from({ length: 100 }, (_, index) => `${index} `).join(""),
  );
});

test("only deltas of the same kind and part are joined", () => {
  const { sent, writer } = start();
  writer.write(text("first"));
  for (const delta of [
    thought("a"),
    thought("b"),
    text("c", 1),
    text("d", 2),
    input("x", "{", 3),
    input("x", "}", 3),
  ])
    writer.write(delta);
  writer.write({ partIndex: 3, delta: { type: "tool-call", toolCallId: "x", toolName: "t", arguments: {} } });
  writer.flush();
  expect(contentOf(sent.slice(1))).toEqual([
    [
      [2, 0, "ab"],
      [3, 1, "c"],
      [4, 2, "d"],
      [5, 3, "{}"],
      [6, 3, "tool-call"],
    ],
  ]);
});

test("a flush publishes pending deltas once, and an empty one publishes nothing", () => {
  const { clock, sent, writer } = start();
  writer.flush();
  writer.write(text("a"));
  writer.write(text("b"));
  writer.flush();
  writer.flush();
  clock.advance(1_000);
  expect(contentOf(sent)).toEqual([[[1, 0, "a"]], [[2, 0, "b"]]]);
});

test("published deltas do not change any more", () => {
  const { sent, writer } = start();
  writer.write(text("a"));
  const [first] = sent;
  writer.write(text("b"));
  writer.flush();
  expect(first).toEqual([
    { sequence: 1, role: "assistant", partIndex: 0, delta: { type: "text-delta", append: "a" } },
  ]);
});

test("a busy server's longer interval applies from the next delta on", () => {
  const { clock, sent, writer, setInterval } = start();
  writer.write(text("a"));
  setInterval(100);
  clock.advance(20);
  writer.write(text("b"));
  clock.advance(79);
  expect(contentOf(sent)).toEqual([[[1, 0, "a"]]]);
  clock.advance(1);
  expect(contentOf(sent)).toEqual([[[1, 0, "a"]], [[2, 0, "b"]]]);
});
