import { applyPatch } from "diff";
import { expect, test } from "vitest";
import { diffLimits, unifiedDiff } from "./edit-diff.js";

const ONE_FILE = diffLimits(1);

/** Deterministic numbers from 0 to below `bound`. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

test("the diff of any two texts, applied to the one, gives the other", () => {
  const below = numbers(7);
  const lines = () => Array.from({ length: below(14) }, () => `${"ab\r"[below(3)]}\n`);
  for (let round = 0; round < 2000; round += 1) {
    const [head, middle, other, tail] = [lines(), lines(), lines(), lines()];
    const cut = (text: string) => (below(3) === 0 ? text.slice(0, -1) : text);
    const before = cut([...head, ...middle, ...tail].join(""));
    const after = cut([...head, ...other, ...tail].join(""));
    const diff = unifiedDiff("a", before, after, ONE_FILE);
    expect({ before, result: diff === "" ? before : applyPatch(before, diff) }).toEqual({
      before,
      result: after,
    });
  }
});

test("three lines of context stand around a change in the middle of many", () => {
  const text = (middle: string) => `${"same\n".repeat(50)}${middle}${"same\n".repeat(50)}`;
  expect(unifiedDiff("a b", text(""), text("new\n"), ONE_FILE)).toBe(
    "--- a b\n+++ a b\n@@ -48,6 +48,7 @@\n same\n same\n same\n+new\n same\n same\n same\n",
  );
});

test("texts with too many changes are one block for another, and still a true diff while they fit", () => {
  const before = Array.from({ length: 100 }, (_, index) => `${index}\n`).join("");
  const after = before.replaceAll("1", "x").slice(0, -1);
  const diff = unifiedDiff("a", before, after, { maxBytes: 10_000, maxChangedLines: 5 });
  expect(diff).toMatch(/^--- a\n\+\+\+ a\n@@ -1,100 \+1,100 @@\n-0\n/);
  expect(applyPatch(before, diff)).toBe(after);
});

test("many files share what one may take", () => {
  expect([diffLimits(1), diffLimits(32), diffLimits(200)]).toEqual([
    { maxBytes: 32_768, maxChangedLines: 1500 },
    { maxBytes: 32_768, maxChangedLines: 265 },
    { maxBytes: 5242, maxChangedLines: 106 },
  ]);
});

test("ten megabytes without a line in common give a diff that says what it leaves out", () => {
  const diff = unifiedDiff("a", "a\n".repeat(5_000_000), "b\n".repeat(5_000_000), ONE_FILE);
  expect([diff.length <= 32_768, diff.slice(-60)]).toEqual([
    true,
    expect.stringMatching(/\\ \d+ or more lines of this diff are left out\n$/),
  ]);
});
