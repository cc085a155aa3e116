import { expect, test } from "vitest";
import { findRuns, findText } from "./match-runs.js";

function starts(find: (found: (start: number) => void) => void): number[] {
  const all: number[] = [];
  find((start) => all.push(start));
  return all;
}

test.each([
  ["once", [1, 2, 3, 4], [2, 3], [1]],
  ["overlapping", [1, 1, 1, 1], [1, 1], [0, 1, 2]],
  ["after a false beginning", [1, 1, 2, 1, 1, 1, 2, 2], [1, 1, 2, 2], [4]],
  ["not at all", [1, 2, 3], [3, 2], []],
  ["not beyond the end", [1, 2], [1, 2, 3], []],
])("a run is found %s", (_, sequence, wanted, expected) => {
  expect(starts((found) => findRuns(sequence, wanted, found))).toEqual(expected);
});

test("a long text is found where a short one is, overlapping places included", () => {
  const period = "ab".repeat(100);
  const text = `b${period}ab-${period}`;
  expect(starts((found) => findText(text, period, found))).toEqual([1, 3, 204]);
  expect(starts((found) => findText(text, "b-a", found))).toEqual([202]);
  expect(starts((found) => findText(text, `${period}x`, found))).toEqual([]);
});
