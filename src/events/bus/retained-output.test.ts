import { expect, test } from "vitest";
import { KEPT_OUTPUT_BYTES, KeptOutput } from "./retained-output.js";

const item = (sequence: number, bytes = 10) => ({ sequence, bytes });

test("of each call the newest 64 KiB are kept, and the newest piece whatever its size", () => {
  const kept = new KeptOutput();
  const half = KEPT_OUTPUT_BYTES / 2;
  const dropped = [
    kept.add(0, item(1, half)),
    kept.add(1, item(2, half)),
    kept.add(0, item(3, half)),
    kept.add(0, item(4, 1)),
    kept.add(1, item(5, 10 * half)),
  ];
  expect({ dropped, droppedUpTo: kept.droppedUpTo, calls: [...kept.calls.entries()] }).toEqual({
    dropped: [[], [], [], [item(1, half)], [item(2, half)]],
    droppedUpTo: 2,
    calls: [
      [0, { items: [item(3, half), item(4, 1)], bytes: half + 1, hasDropped: true }],
      [1, { items: [item(5, 10 * half)], bytes: 10 * half, hasDropped: true }],
    ],
  });
});

test("a call that says little at a time keeps its newest 200 pieces", () => {
  const kept = new KeptOutput();
  for (let sequence = 1; sequence <= 1_000; sequence += 1) kept.add(0, item(sequence));
  expect([kept.calls.get(0)?.items.length, kept.calls.get(0)?.items[0], kept.droppedUpTo]).toEqual([
    200,
    item(801),
    800,
  ]);
});

test("nothing is kept of a call whose result is there", () => {
  const kept = new KeptOutput();
  kept.add(0, item(1));
  kept.add(1, item(2));
  kept.add(0, item(3));
  expect([kept.settle(0), kept.settle(0), kept.droppedUpTo, [...kept.calls.keys()]]).toEqual([
    [item(1), item(3)],
    [],
    3,
    [1],
  ]);
});
