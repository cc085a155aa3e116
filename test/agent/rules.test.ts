// Every numbered rule of docs/agent has a test that names it. PARLEY_PRINT_RULES=1 prints the list.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const RULE = /^- \*\*([A-Z]\d+[a-z]?)\*\* ([\s\S]*?)(?=\n- \*\*|\n\n|\n#|$(?![\s\S]))/gm;
/** Matches the declaration of a test: `test("[P1] …"`, also with `each`, `skipIf` and the like. */
const NAMED = /"((?:\[[A-Z]\d+[a-z]?\] ?)+[^"]*)"|`((?:\[[A-Z]\d+[a-z]?\] ?)+[^`]*)`/g;
const ID = /\[([A-Z]\d+[a-z]?)\]/g;

type Rule = { id: string; text: string; document: string };
type Proof = { id: string; name: string; file: string };

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(root, folder, name));
}

function readRules(file: string): Rule[] {
  return [...readFileSync(file, "utf8").matchAll(RULE)].map(([, id = "", text = ""]) => ({
    id,
    text: text.replace(/\s+/g, " ").trim(),
    document: relative(root, file),
  }));
}

function readProofs(file: string): Proof[] {
  return [...readFileSync(file, "utf8").matchAll(NAMED)].flatMap(([, quoted, templated]) => {
    const name = quoted ?? templated ?? "";
    const start = /^(?:\[[A-Z]\d+[a-z]?\] ?)+/.exec(name)?.[0] ?? "";
    return [...start.matchAll(ID)].map(([, id = ""]) => ({ id, name, file: relative(root, file) }));
  });
}

const rules = filesIn("docs/agent", ".md").flatMap(readRules);
const proofs = ["test/agent", "test/api", "test/engine"].flatMap((folder) =>
  filesIn(folder, ".test.ts").flatMap(readProofs),
);

if (process.env["PARLEY_PRINT_RULES"]) {
  for (const { id, text } of rules) {
    process.stdout.write(`${id}  ${text}\n`);
    for (const proof of proofs.filter((it) => it.id === id))
      process.stdout.write(`      ${proof.file}: ${proof.name}\n`);
  }
}

describe("the agent's promises", () => {
  test("are numbered, each number once", () => {
    const twice = rules.filter(({ id }, index) => rules.findIndex((rule) => rule.id === id) !== index);
    expect(twice).toEqual([]);
    expect(rules.length).toBeGreaterThan(50);
  });

  test("each have a test that names them", () => {
    const unproven = rules.filter(({ id }) => !proofs.some((proof) => proof.id === id));
    expect(unproven).toEqual([]);
  });

  test("are what the tests' numbers stand for", () => {
    const unknown = proofs.filter(({ id }) => !rules.some((rule) => rule.id === id));
    expect(unknown).toEqual([]);
  });
});
