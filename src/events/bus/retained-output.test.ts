import { expect, test } from "vitest";
import { RETAINED_OUTPUT_BYTES, RetainedOutput } from "./retained-output.js";

const item = (sequence: number, bytes = 10) => ({ sequence, bytes });

test("the newest 64 KiB of each call are retained, and the newest delta whatever its size", () => {
  const retained = new RetainedOutput();
  const half = RETAINED_OUTPUT_BYTES / 2;
  const dropped = [
    retained.add(0, item(1, half)),
    retained.add(1, item(2, half)),
    retained.add(0, item(3, half)),
    retained.add(0, item(4, 1)),
    retained.add(1, item(5, 10 * half)),
  ];
  expect({ dropped, droppedUpTo: retained.droppedUpTo, calls: [...retained.calls.entries()] }).toEqual({
    dropped: [[], [], [], [item(1, half)], [item(2, half)]],
    droppedUpTo: 2,
    calls: [
      [0, { items: [item(3, half), item(4, 1)], bytes: half + 1, hasDropped: true }],
      [1, { items: [item(5, 10 * half)], bytes: 10 * half, hasDropped: true }],
    ],
  });
});

test("a call with many small deltas retains its newest 200", () => {
  const retained = new RetainedOutput();
  for (let sequence = 1; sequence <= 1_000; sequence += 1) retained.add(0, item(sequence));
  expect([
    retained.calls.get(0)?.items.length,
    retained.calls.get(0)?.items[0],
    retained.droppedUpTo,
  ]).toEqual([200, item(801), 800]);
});

test("no output is retained of a call whose result is there", () => {
  const retained = new RetainedOutput();
  retained.add(0, item(1));
  retained.add(1, item(2));
  retained.add(0, item(3));
  expect([retained.settle(0), retained.settle(0), retained.droppedUpTo, [...retained.calls.keys()]]).toEqual([
    [item(1), item(3)],
    [],
    3,
    [1],
  ]);
});
