import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import type { ToolOutcome } from "../../../src/domain/chats/tool-outcome.js";
import { builtInTools, findTool } from "../../../src/engine/tools/registry.js";
import { startTestAgent, type TestAgent } from "../../agent/support.js";
import { noAgents } from "../../support/workspaces/no-agents.js";

let agent: TestAgent;

beforeAll(async () => {
  agent = await startTestAgent();
  await put(".gitignore", "node_modules\n");
  await put("src/app.ts", "import { a } from './a';\nrun(a);\n");
  await put("src/a.ts", "export const a = 1;\n");
  await put("node_modules/a/index.ts", "export const a = 2;\n");
  await symlink("gone", join(agent.folder, "broken"));
});
afterAll(() => agent.close());

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(agent.folder, path)), { recursive: true });
  await writeFile(join(agent.folder, path), content);
}

function call(name: string, args: JsonObject): Promise<ToolOutcome> {
  const tool = findTool(builtInTools, name);
  if (tool === undefined) throw new Error(`There is no tool ${name}.`);
  return tool.run(args, {
    workspace: () => Promise.resolve(agent.connection.forChat("chat-1")),
    output: () => undefined,
    agents: noAgents,
    idempotencyKey: "call-1",
    signal: new AbortController().signal,
  });
}

async function resultOf(name: string, args: JsonObject) {
  const { result, isError } = await call(name, args);
  if (isError) throw new Error(JSON.stringify(result));
  return result;
}

describe("list_directory", () => {
  test("shows the workspace's directory in short lines", async () => {
    expect(await resultOf("list_directory", {})).toEqual({
      path: agent.folder,
      entries: ["node_modules/", "src/", ".gitignore (13 bytes)", "broken -> gone (broken link)"],
    });
  });

  test("says what a path is when it cannot be listed", async () => {
    expect(await call("list_directory", { path: "src/a.ts" })).toEqual({
      result: { error: `${join(agent.folder, "src/a.ts")} is not a directory; it can be read, not listed.` },
      isError: true,
    });
  });

  test("says how many entries it does not show", async () => {
    for (let index = 0; index < 503; index += 1) await put(`crowd/${index}`, "");
    const result = await resultOf("list_directory", { path: "crowd" });
    expect(result).toMatchObject({
      note: "3 more entries are not shown; use find_files with a pattern.",
    });
  });
});

describe("find_files", () => {
  test("finds what is not ignored, or everything", async () => {
    expect([
      await resultOf("find_files", { pattern: "*.ts" }),
      await resultOf("find_files", { pattern: "*.ts", include_ignored: true, limit: 1 }),
      await resultOf("find_files", { pattern: "*.py", path: "src" }),
    ]).toEqual([
      { files: ["src/a.ts", "src/app.ts"], total: 2 },
      {
        files: ["node_modules/a/index.ts"],
        total: 3,
        note: "2 more files are not shown; narrow the search down with a more particular pattern or path.",
      },
      { files: [], total: 0 },
    ]);
  });
});

describe("search_files", () => {
  test("gives lines with their numbers by file", async () => {
    expect(await resultOf("search_files", { pattern: "\\bA\\b", glob: "src/*", ignore_case: true })).toEqual({
      files: [
        { path: "src/a.ts", lines: ["1: export const a = 1;"] },
        { path: "src/app.ts", lines: ["1: import { a } from './a';", "2: run(a);"] },
      ],
      total_lines: 3,
      total_files: 2,
    });
  });

  test("reports what it does not show and what it did not search", async () => {
    for (let index = 0; index < 7; index += 1) {
      await put(`data/${index}.log`, "");
      await truncate(join(agent.folder, `data/${index}.log`), 11 * 1024 * 1024);
    }
    await put("data/small.txt", "one\none\none\n");
    expect(await resultOf("search_files", { pattern: "one", path: "data", limit: 2 })).toEqual({
      files: [{ path: "data/small.txt", lines: ["1: one", "2: one"] }],
      total_lines: 3,
      total_files: 1,
      note:
        "1 more matching lines are not shown; narrow the search down with a more particular pattern or path. " +
        "Not searched because they are too large: data/0.log, data/1.log, data/2.log, data/3.log, data/4.log and 2 more; " +
        "use grep with execute for these.",
    });
  });

  test("explains a pattern that it does not know", async () => {
    expect(await call("search_files", { pattern: "foo(" })).toEqual({
      result: {
        error:
          "The pattern is not valid: missing closing ): `foo(`. It is a regular expression in the syntax of RE2, without " +
          "look-around and backreferences; put a backslash before . * + ? ( ) [ ] { } | ^ $ \\ to mean the character itself.",
      },
      isError: true,
    });
  });

  test("refuses arguments that are none", async () => {
    const outcomes = [
      await call("search_files", {}),
      await call("search_files", { pattern: "a", limit: 0 }),
      await call("find_files", { pattern: "" }),
      await call("find_files", { pattern: "/etc/*" }),
    ];
    expect(outcomes.map(({ isError }) => isError)).toEqual([true, true, true, true]);
  });
});
