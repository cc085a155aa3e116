// The `edit_files` tool on a real agent: its results for valid edits, invalid edits, and arguments of other tools.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import { editFilesTool } from "../../../src/engine/tools/files/edit-files.js";
import { startTestAgent, type TestAgent } from "../support.js";
import { noAgents } from "../../support/workspaces/no-agents.js";

let agent: TestAgent;
let folder: string;
let count = 0;

beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(() => agent.close());
beforeEach(async () => {
  count += 1;
  folder = `case-${count}`;
  await mkdir(join(agent.folder, folder));
});

const write = (name: string, content: string) => writeFile(join(agent.folder, folder, name), content);
const read = (name: string) => readFile(join(agent.folder, folder, name), "utf8");

async function call(args: JsonObject): Promise<JsonObject> {
  const { result, isError } = await editFilesTool.run(args, {
    workspace: () => Promise.resolve(agent.connection),
    output: () => undefined,
    agents: noAgents,
    idempotencyKey: `call-${count}`,
    signal: new AbortController().signal,
  });
  return { isError, ...(result as JsonObject) };
}

test("the model sees what its edits did, file by file", async () => {
  await write("a", "\tone\n\ttwo\n");
  await write("b", "three\n");
  const edits = [
    { path: `${folder}/a`, old_text: "    one\n    two", new_text: "    one\n    2" },
    { path: `${folder}/b`, old_text: "three", new_text: "three" },
  ];
  expect(await call({ edits: JSON.stringify(edits) })).toEqual({
    isError: false,
    ok: true,
    files: [
      {
        path: `${folder}/a`,
        replacements: 1,
        diff: `--- ${folder}/a\n+++ ${folder}/a\n@@ -1,2 +1,2 @@\n \tone\n-\ttwo\n+\t2\n`,
      },
      { path: `${folder}/b`, replacements: 1, diff: "" },
    ],
  });
});

test("a refusal names the tool's arguments, quotes files as they are, and says that nothing was applied", async () => {
  await write("a", "{\n  oldText: 1,\n}\n");
  await write("b", "one\n");
  const edits = [
    { path: `${folder}/a`, old_text: "{\n  oldText: 2,", new_text: "" },
    { path: `${folder}/b`, old_text: "one", new_text: "1" },
  ];
  expect(await call({ edits })).toEqual({
    isError: true,
    error:
      `${folder}/a: old_text was not found. Its beginning is at line 1, but ` +
      `line 2 of the file has "  oldText: 1," where old_text has "  oldText: 2,". No edit was applied.`,
  });
  expect(await read("b")).toBe("one\n");
});

test("arguments of another shape are explained, and nothing is applied", async () => {
  await write("a", "one\n");
  const path = `${folder}/a`;
  const errors: unknown[] = [];
  for (const args of [
    {},
    { edits: [] },
    { edits: "- a" },
    { path, old_text: "one", new_text: "1" },
    { edits: [{ path, old_string: "one", new_string: "1" }] },
    { edits: [{ path: "  ", old_text: "one", new_text: "1" }] },
    { edits: [{ path, old_text: "one", new_text: 1 }] },
  ] as JsonObject[]) {
    errors.push((await call(args)).error);
  }
  const shape = "The arguments are edits: [{path, old_text, new_text, replace_all?}].";
  expect(errors).toEqual([
    `Invalid arguments. edits: is required (array). ${shape} No edit was applied.`,
    "Invalid arguments. edits: must NOT have fewer than 1 items. No edit was applied.",
    "Invalid arguments. edits: must be array, not string. edits must be a list, or its JSON as text; this text is neither. No edit was applied.",
    `Invalid arguments. edits: is required (array); unknown property \`path\`; unknown property \`old_text\`; unknown property \`new_text\`. ${shape} No edit was applied.`,
    `Invalid arguments. edits[0].old_text: is required (string); edits[0].new_text: is required (string); unknown property \`edits[0].old_string\`; unknown property \`edits[0].new_string\`. Here \`old_string\` is old_text and \`new_string\` is new_text. ${shape} No edit was applied.`,
    "The request is not valid: files.0.path: A path is required. (✖ A path is required.\n  → at files[0].path) No edit was applied.",
    "Invalid arguments. edits[0].new_text: must be string, not number. No edit was applied.",
  ]);
  expect(await read("a")).toBe("one\n");
});
