// The edit engine and its reference implementation give the same results for fifty thousand random edits.
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { applyEdit } from "../../../src/agent/files/match.js";
import { randomNumbers } from "../../support/random.js";
import { randomCase, type EditCase } from "./edit-cases.js";
import { referenceEdit, type ReferenceOutcome } from "./edit-reference.js";
import { scaled } from "../../support/scale.js";

/** This seed found a bug that others missed: the indentation step of a file with an odd number of spaces. */
const SEED = 3;
const CASES = scaled(50_000);
/** Smallest share of all cases; each kind must be frequent enough to be meaningful. */
const SMALLEST_SHARE = 0.02;

/** The engine's outcome in the form of the reference. */
function outcomeOf({ text, edit }: EditCase): object {
  const outcome = applyEdit(text, edit, 10_000);
  if (outcome.kind === "edited") return outcome;
  const [, count] = /matches (\d+) occurrences/.exec(outcome.reason) ?? [];
  return count === undefined ? { kind: "not-found" } : { kind: "ambiguous", count: Number(count) };
}

function withoutWay(outcome: ReferenceOutcome): object {
  if (outcome.kind === "not-found" || outcome.kind === "ambiguous") {
    return outcome.kind === "ambiguous" ? { kind: outcome.kind, count: outcome.count } : outcome;
  }
  return { kind: outcome.kind, text: outcome.text, replacements: outcome.replacements };
}

function kindsOf(
  { text, edit: { oldText, newText, replaceAll } }: EditCase,
  outcome: ReferenceOutcome,
): string[] {
  const lines = (value: string) => value.split("\n").length;
  const traits: [string, boolean][] = [
    ["file with CRLF", text.includes("\r\n")],
    ["file with CRLF and LF", /\r\n/.test(text) && /(?<!\r)\n/.test(text)],
    ["file without a final newline", !text.endsWith("\n")],
    ["file indented by tabs", /^\t/m.test(text)],
    ["file indented by spaces", /^ /m.test(text)],
    ["more lines than before", newText !== "" && lines(newText) > lines(oldText)],
    ["fewer lines than before", newText !== "" && lines(newText) < lines(oldText)],
    ["nothing in its place", newText === ""],
    ["replaceAll", replaceAll],
    ["several places", outcome.kind === "edited" && outcome.replacements > 1],
  ];
  const way = "way" in outcome ? ` (${outcome.way})` : "";
  return [`${outcome.kind}${way}`, ...traits.flatMap(([name, applies]) => (applies ? [name] : []))];
}

test(`${CASES} random edits give the same results as the reference, byte for byte`, () => {
  const random = randomNumbers(SEED);
  const counts = new Map<string, number>();
  for (let index = 0; index < CASES; index += 1) {
    const input = randomCase(random);
    const expected = referenceEdit(input.text, input.edit);
    for (const kind of kindsOf(input, expected)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const [outcome, plain] = [outcomeOf(input), withoutWay(expected)];
    if (isDeepStrictEqual(outcome, plain)) continue;
    expect({ seed: SEED, index, input, outcome }).toEqual({ seed: SEED, index, input, outcome: plain });
  }
  const shares = [...counts].sort(([, one], [, other]) => other - one);
  const table = shares.map(([kind, count]) => `${((100 * count) / CASES).toFixed(1).padStart(5)} % ${kind}`);
  process.stdout.write(`Seed ${SEED}, ${CASES} edits:\n${table.join("\n")}\n`);
  for (const kind of ["edited", "ambiguous"]) {
    for (const way of ["exact", "endings", "trailing", "indentation", "lookalikes"]) {
      const least = kind === "edited" ? SMALLEST_SHARE : SMALLEST_SHARE / 10;
      expect([kind, way, (counts.get(`${kind} (${way})`) ?? 0) / CASES >= least]).toEqual([kind, way, true]);
    }
  }
});
