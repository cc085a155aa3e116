import { execFileSync, spawnSync } from "node:child_process";
import { chmod, mkdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { makeFolder, startTestAgent, type TestAgent } from "../support.js";
import { has } from "../../support/requirements.js";

const REAL_RIPGREP = spawnSync("sh", ["-c", "command -v rg"]).stdout.toString("utf8").trim();
const isInstalled = has("ripgrep");

/** The same searches in the same folder, by agents with ripgrep, without it, and with one that fails. */
const ways = ["without ripgrep", "with a broken ripgrep", ...(isInstalled ? ["with ripgrep"] : [])];
const agents = new Map<string, TestAgent>();
/** Contains the programs that replace ripgrep, and their logs. */
let programs: string;
let tree: string;

beforeAll(async () => {
  [programs, tree] = await Promise.all([makeFolder(), makeFolder()]);
  await makeTree();
  await makeProgram("with a broken ripgrep", "echo 'ripgrep 14.1.0'; echo 'it broke' >&2; exit 2");
  await makeProgram("without ripgrep", undefined);
  await makeProgram(
    "with ripgrep",
    `echo "$PATH|$RIPGREP_CONFIG_PATH|$HOME" >> ${join(programs, "calls")}; exec ${REAL_RIPGREP} "$@"`,
  );
  for (const way of ways) {
    agents.set(
      way,
      await startTestAgent({ PATH: join(programs, way), RIPGREP_CONFIG_PATH: join(tree, "ripgreprc") }),
    );
  }
});
afterAll(async () => {
  for (const agent of agents.values()) await agent.close();
  for (const folder of [programs, tree]) await rm(folder, { recursive: true, force: true });
});

async function makeProgram(folder: string, script: string | undefined): Promise<void> {
  await mkdir(join(programs, folder));
  if (script === undefined) return;
  await writeFile(join(programs, folder, "rg"), `#!/bin/sh\n${script}\n`);
  await chmod(join(programs, folder, "rg"), 0o755);
}

async function put(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(tree, path)), { recursive: true });
  await writeFile(join(tree, path), content);
}

async function makeTree(): Promise<void> {
  execFileSync("git", ["init", "--quiet", join(tree, "repo")]);
  await put("ripgreprc", "--ignore-case\n");
  await put("outside.txt", "needle outside\n");
  await put("repo/.gitignore", "*.log\n/dist/\nnode_modules\n!kept.log\n# comment\nTMP/\n");
  await put("repo/.git/info/exclude", "private*\n");
  await put("repo/.ignore", "a.txt\n");
  await put("repo/a.txt", "first\nneedle one\r\nNeedle two\n\nneedle three needle");
  await put("repo/a/b.txt", "needle in a folder\n");
  await put("repo/b.log", "needle ignored\n");
  await put("repo/kept.log", "needle kept\n");
  await put("repo/.hidden", "needle hidden\n");
  await put("repo/dist/out.txt", "needle built\n");
  await put("repo/sub/dist/out.txt", "needle not built\n");
  await put("repo/sub/.gitignore", "!again.log\nsecret.txt\n/only-here.txt\n");
  await put("repo/sub/again.log", "needle again\n");
  await put("repo/sub/secret.txt", "needle secret\n");
  await put("repo/sub/only-here.txt", "needle ignored here\n");
  await put("repo/sub/deep/only-here.txt", "needle deep\n");
  await put("repo/sub/deep/secret.txt", "needle deep secret\n");
  await put("repo/tmp/x.txt", "needle small tmp\n");
  await put("repo/TMP/x.txt", "needle big tmp\n");
  await put("repo/private.txt", "needle private\n");
  await put("repo/node_modules/pkg/index.js", "needle dependency\n");
  await put("repo/node_modules/pkg/.gitignore", "skipped.js\n");
  await put("repo/node_modules/pkg/skipped.js", "needle skipped\n");
  await put("repo/nested/.git/HEAD", "needle of git\n");
  await put("repo/nested/.git/info/exclude", "excluded.txt\n");
  await put("repo/nested/b.log", "needle nested log\n");
  await put("repo/nested/excluded.txt", "needle excluded\n");
  await put("repo/binary.bin", Buffer.concat([Buffer.from("needle\n".repeat(20_000)), Buffer.from([0])]));
  await put("repo/utf16.txt", Buffer.from("\uFEFFneedle wide ü\nother\n", "utf16le"));
  await put("repo/bom.txt", "\uFEFFneedle after a mark\n");
  await put("repo/long.txt", `${"x".repeat(5_000)}needle${"y".repeat(5_000)}\nneedle ${"€".repeat(300)}\n`);
  await put("repo/odd \n [name] ü.txt", "needle odd\n");
  await put("repo/large.dat", "needle large\n");
  await truncate(join(tree, "repo/large.dat"), 10 * 1024 * 1024 + 1);
  await symlink("../outside.txt", join(tree, "repo/link.txt"));
  await symlink("..", join(tree, "repo/loop"));
  execFileSync("mkfifo", [join(tree, "repo/pipe")]);
}

const repo = () => join(tree, "repo");

/** The expected matches of `pattern` for every agent, one line each. */
async function linesOf(connection: AgentConnection, request: Parameters<AgentConnection["searchFiles"]>[0]) {
  const answer = await connection.searchFiles({ path: repo(), ...request });
  return answer.files.flatMap(({ path, lines }) =>
    lines.map(({ line, text }) => `${path.replace(`${tree}/`, "")}:${line}:${text}`),
  );
}

const found = [
  "repo/.hidden:1:needle hidden",
  "repo/a.txt:2:needle one",
  "repo/a.txt:5:needle three needle",
  "repo/a/b.txt:1:needle in a folder",
  "repo/bom.txt:1:needle after a mark",
  "repo/kept.log:1:needle kept",
  `repo/long.txt:1:...${"x".repeat(100)}needle${"y".repeat(294)}...`,
  `repo/long.txt:2:needle ${"€".repeat(131)}...`,
  "repo/nested/b.log:1:needle nested log",
  "repo/odd \n [name] ü.txt:1:needle odd",
  "repo/sub/again.log:1:needle again",
  "repo/sub/deep/only-here.txt:1:needle deep",
  "repo/sub/dist/out.txt:1:needle not built",
  "repo/tmp/x.txt:1:needle small tmp",
  "repo/utf16.txt:1:needle wide ü",
];

describe.each(ways)("searching contents %s", (way) => {
  const connection = () => agents.get(way)?.connection as AgentConnection;

  test("[F25] [F27] [F29] [F30] [F31] [F33] finds what git does not leave out, in order", async () => {
    const answer = await connection().searchFiles({ path: repo(), pattern: "needle" });
    expect(await linesOf(connection(), { pattern: "needle" })).toEqual(found);
    expect({ ...answer, files: answer.files.length }).toEqual({
      files: 13,
      totalLines: 15,
      totalFiles: 13,
      tooLarge: { total: 1, paths: [join(repo(), "large.dat")] },
      unreadable: 0,
    });
  });

  test.each([
    ["^needle (one|kept)$", {}, ["repo/a.txt:2:needle one", "repo/kept.log:1:needle kept"]],
    ["NEEDLE O", { ignoreCase: true }, ["repo/a.txt:2:needle one", "repo/odd \n [name] ü.txt:1:needle odd"]],
    ["NEEDLE O", {}, []],
    ["^$", { glob: "a.txt" }, ["repo/a.txt:4:"]],
    ["\\bwide\\s\\W", {}, ["repo/utf16.txt:1:needle wide ü"]],
    ["d\\w{5}$", { glob: "*.log" }, []],
    ["needle", { glob: "sub/**/*.txt" }, found.filter((line) => /^repo\/sub\/.*txt:/.test(line))],
    ["\\Qneedle one\\E", {}, ["repo/a.txt:2:needle one"]],
    ["-needle|--", {}, []],
    ["one\\s*$", {}, ["repo/a.txt:2:needle one"]],
  ])("[F28] [F33] finds %s with %j", async (pattern, request, expected) => {
    expect(await linesOf(connection(), { pattern, ...request })).toEqual(expected);
  });

  test("[F26] searches an ignored folder that is named, and everything when asked to", async () => {
    const named = await linesOf(connection(), { path: join(repo(), "node_modules/pkg"), pattern: "needle" });
    const everything = await linesOf(connection(), { includeIgnored: true, pattern: "needle" });
    expect(named).toEqual([
      "repo/node_modules/pkg/index.js:1:needle dependency",
      "repo/node_modules/pkg/skipped.js:1:needle skipped",
    ]);
    expect(everything.filter((line) => !found.includes(line)).map((line) => line.split(":")[0])).toEqual([
      "repo/TMP/x.txt",
      "repo/b.log",
      "repo/dist/out.txt",
      "repo/nested/excluded.txt",
      "repo/node_modules/pkg/index.js",
      "repo/node_modules/pkg/skipped.js",
      "repo/private.txt",
      "repo/sub/deep/secret.txt",
      "repo/sub/only-here.txt",
      "repo/sub/secret.txt",
    ]);
  });

  test("[F25] heeds the rules above a folder within the repository", async () => {
    expect(await linesOf(connection(), { path: join(repo(), "sub/deep"), pattern: "needle" })).toEqual([
      "repo/sub/deep/only-here.txt:1:needle deep",
    ]);
  });

  test("[F31] shows as many lines as requested and counts all", async () => {
    const { files, ...facts } = await connection().searchFiles({ path: repo(), pattern: "needle", limit: 2 });
    expect([files.flatMap(({ lines }) => lines.length), facts]).toEqual([
      [1, 1],
      {
        totalLines: 15,
        totalFiles: 13,
        tooLarge: { total: 1, paths: [join(repo(), "large.dat")] },
        unreadable: 0,
      },
    ]);
  });
});

test.skipIf(!isInstalled)("[F33] ripgrep is used, and sees nothing of the agent's environment", async () => {
  const folder = join(programs, "with ripgrep");
  const calls = (await readFile(join(programs, "calls"), "utf8")).split("\n").slice(0, -1);
  expect([new Set(calls), calls.length > 5]).toEqual([new Set([`${folder}||`]), true]);
});
