import { execFileSync } from "node:child_process";
import { mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPaths } from "../../../src/agent/search/find-paths.js";
import { compileLinePattern } from "../../../src/agent/search/line-pattern.js";
import { searchLines } from "../../../src/agent/search/search-lines.js";
import { AgentError, type AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { ManualClock } from "../manual-clock.js";
import { startTestAgent, type TestAgent } from "../support.js";

let agent: TestAgent;
let connection: AgentConnection;

beforeAll(async () => {
  agent = await startTestAgent();
  connection = agent.connection;
});
afterAll(() => agent.close());

async function makeFolder(name: string): Promise<string> {
  await mkdir(join(agent.folder, name));
  return join(agent.folder, name);
}

const NONE_TOO_LARGE = { total: 0, paths: [] };

describe("a search that would take for ever", () => {
  /** Backtracks over every way to divide the name among its stars. */
  const ENDLESS_GLOB = `${"*a".repeat(30)}*b`;
  let folder: string;

  beforeAll(async () => {
    folder = await makeFolder("endless");
    await writeFile(join(folder, "a".repeat(200)), "");
  });

  function endless() {
    const giveUp = new AbortController();
    const search = connection.findFiles({ path: folder, pattern: ENDLESS_GLOB }, { signal: giveUp.signal });
    return { giveUp, ended: search.catch((error: unknown) => error) };
  }

  test("[F32] holds up nothing else, and ends when its caller goes away", async () => {
    const searches = [endless(), endless()];
    await connection.writeFile({ path: "beside.txt", content: "beside" });
    const waiting = connection.findFiles({ pattern: "beside.*" });
    expect(await connection.readLines({ path: "beside.txt" })).toMatchObject({ content: "1\tbeside" });
    for (const { giveUp } of searches) giveUp.abort(new Error("gone"));
    expect(await Promise.all(searches.map(({ ended }) => ended))).toEqual([
      new Error("gone"),
      new Error("gone"),
    ]);
    expect(await waiting).toEqual({ paths: ["beside.txt"], total: 1, unreadable: 0 });
  });

  test("[F32] lets 32 others wait and refuses the next", async () => {
    const searches = Array.from({ length: 35 }, endless);
    const refused = await Promise.race(searches.map(({ ended }) => ended));
    expect(refused instanceof AgentError && [refused.status, refused.message]).toEqual([
      503,
      "Too many searches are waiting; try again later.",
    ]);
    for (const { giveUp } of searches) giveUp.abort(new Error("gone"));
    await Promise.all(searches.map(({ ended }) => ended));
    // The agent notices one after the other that they are gone.
    const search = () =>
      connection.findFiles({ path: folder, pattern: "a*" }).catch((error: unknown) => error);
    await expect.poll(search).toMatchObject({ total: 1 });
  });

  test("[F32] does not keep the agent from ending", async () => {
    const other = await startTestAgent();
    const path = join(other.folder, "a".repeat(200));
    await writeFile(path, "");
    const search = other.connection.findFiles({ pattern: ENDLESS_GLOB }).catch((error: unknown) => error);
    await other.connection.health();
    await other.close();
    expect(await search).toBeInstanceOf(Error);
  });
});

describe("the time of a search", () => {
  /** Each read of it takes a second. */
  class StepClock extends ManualClock {
    override now(): number {
      this.advance(1_000);
      return super.now();
    }
  }

  test("[F32] ends with what was found until then", async () => {
    const folder = await makeFolder("slow");
    for (let index = 0; index < 30; index += 1) await writeFile(join(folder, `${index + 10}.txt`), "it\n");
    const job = { scope: { folder, usesIgnoreFiles: true }, limit: 100, shownPrefix: "", timeMs: 15_000 };
    const names = Array.from({ length: 14 }, (_, index) => `${index + 10}.txt`);
    expect(findPaths({ ...job, kind: "find", glob: "*" }, new StepClock())).toEqual({
      paths: names,
      total: names.length,
      endedEarly: "time",
      unreadable: 0,
    });
    const compiled = compileLinePattern("it", false);
    if (compiled.kind === "refused") throw new Error(compiled.message);
    const search = { ...job, kind: "search", pattern: "it", ignoreCase: false, glob: undefined } as const;
    expect(searchLines({ ...search, counts: undefined }, compiled.value, new StepClock())).toEqual({
      files: names.map((path) => ({ path, lines: [{ line: 1, text: "it" }] })),
      totalLines: names.length,
      totalFiles: names.length,
      tooLarge: NONE_TOO_LARGE,
      endedEarly: "time",
      unreadable: 0,
    });
  });
});

describe("large things", () => {
  test("[F29] a log of a gigabyte is named, not read", async () => {
    const folder = await makeFolder("logs");
    await writeFile(join(folder, "server.log"), "needle\n");
    await truncate(join(folder, "server.log"), 1024 * 1024 * 1024);
    for (const path of [folder, join(folder, "server.log")]) {
      expect(await connection.searchFiles({ path, pattern: "needle" })).toEqual({
        files: [],
        totalLines: 0,
        totalFiles: 0,
        tooLarge: { total: 1, paths: ["logs/server.log"] },
        unreadable: 0,
      });
    }
  });

  test("[F28] [F30] a line of a megabyte is searched in linear time and shown in part", async () => {
    const folder = await makeFolder("minified");
    await writeFile(join(folder, "a.js"), `${"a".repeat(1024 * 1024)}!`);
    const none = await connection.searchFiles({ path: folder, pattern: "(a+)+$" });
    const some = await connection.searchFiles({ path: folder, pattern: "a!$" });
    expect([none.totalLines, some.files]).toEqual([
      0,
      [{ path: "minified/a.js", lines: [{ line: 1, text: `...${"a".repeat(101)}!` }] }],
    ]);
  });

  test("[F31] lines are counted up to ten thousand", async () => {
    const folder = await makeFolder("many");
    for (let index = 0; index < 4; index += 1) {
      await writeFile(join(folder, `${index}.txt`), "it\n".repeat(4_000));
    }
    const { files, ...facts } = await connection.searchFiles({ path: folder, pattern: "it" });
    expect([files.map(({ path, lines }) => [path, lines.length]), facts]).toEqual([
      [["many/0.txt", 100]],
      { totalLines: 12_000, totalFiles: 3, tooLarge: NONE_TOO_LARGE, endedEarly: "count", unreadable: 0 },
    ]);
    const bounded = await connection
      .searchFiles({ path: folder, pattern: "", glob: "*" })
      .catch(() => "refused");
    expect(bounded).toBe("refused");
  });

  test("[F35] a folder that cannot be read is counted", async () => {
    const folder = await makeFolder("unreadable");
    await writeFile(join(folder, "z.txt"), "it\n");
    // Deeper than the longest allowed path: not even root can reach the end by its path.
    const descend =
      'for (let i = 0; i < 25; i += 1) { fs.mkdirSync("x".repeat(200)); process.chdir("x".repeat(200)); } fs.writeFileSync("deep.txt", "it");';
    execFileSync(process.execPath, ["-e", descend], { cwd: folder });
    try {
      const { paths, total, unreadable } = await connection.findFiles({ path: folder, pattern: "*.txt" });
      expect([paths, total, unreadable]).toEqual([["unreadable/z.txt"], 1, 1]);
    } finally {
      execFileSync("rm", ["-rf", folder]);
    }
  });
});
