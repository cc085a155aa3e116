import { execFileSync } from "node:child_process";
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AgentError, type AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { startTestAgent, type TestAgent } from "../support.js";

let agent: TestAgent;
let connection: AgentConnection;
let folder: string;
let count = 0;

beforeAll(async () => {
  agent = await startTestAgent();
  connection = agent.connection;
});
afterAll(() => agent.close());
beforeEach(async () => {
  count += 1;
  folder = join(agent.folder, `case-${count}`);
  await mkdir(folder);
});

async function put(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `content of ${path}\n`);
  }
}

async function find(pattern: string, more: object = {}): Promise<string[]> {
  const { paths } = await connection.findFiles({ path: folder, pattern, ...more });
  return paths.map((path) => relative(folder, join(agent.folder, path)));
}

async function refusal(promise: Promise<unknown>) {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof AgentError)) throw error;
  return `${error.status} ${error.message.replaceAll(folder, "")}`;
}

describe("finding files", () => {
  test.each([
    ["*.ts", [".hidden/d.ts", "a.ts", "src/b.ts", "src/deep/c.ts"]],
    ["src/*.ts", ["src/b.ts"]],
    ["src/**/*.ts", ["src/b.ts", "src/deep/c.ts"]],
    ["{a,b}.*", ["a.ts", "src/a.txt", "src/b.ts"]],
    ["[!ab].ts", [".hidden/d.ts", "src/deep/c.ts"]],
    ["src/", ["src/a.txt", "src/b.ts", "src/deep/c.ts"]],
    ["A.TS", []],
  ])("[F24] finds %s", async (pattern, expected) => {
    await put("a.ts", "src/a.txt", "src/b.ts", "src/deep/c.ts", ".hidden/d.ts");
    expect(await find(pattern)).toEqual(expected);
  });

  test("[F25] [F27] leaves out just what git leaves out, also in a worktree", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c", ...args]);
    git("init", "--quiet");
    git("commit", "--quiet", "--allow-empty", "--message", "begin");
    await put(
      "a.txt",
      "a.log",
      "keep.log",
      "build/x",
      "src/build/y",
      "src/z.tmp",
      "doc/a b .txt",
      "odd[1]/n.o",
    );
    await put("#hash", "!bang", "src/ünï/ö.o", "src/deep/build", "deep/er/est/private.txt", "x/y/z/foo");
    await writeFile(
      join(folder, ".gitignore"),
      "out/\n*.log\r\n!keep.log\n/build\n**/z.tmp\n\\#hash\n\\!bang\nodd\\[1\\]/\nx/**/foo\n\n  \n",
    );
    await put("pkg/out/in.txt", "pkg/out/in.log", "other/out/in.txt");
    await writeFile(join(folder, "pkg/.gitignore"), "!out/\n");
    await writeFile(join(folder, "src/.gitignore"), "*.o\nbuild/\n!/deep/build\n");
    await writeFile(join(folder, ".git/info/exclude"), "private.txt\n");
    await symlink("a.txt", join(folder, "link"));
    git("worktree", "add", "--quiet", "../tree");
    const worktree = join(agent.folder, "tree");
    await writeFile(join(worktree, "private.txt"), "");
    await writeFile(join(worktree, "public.txt"), "");
    const listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").toString("utf8");
    expect(await find("**")).toEqual(
      listed
        .split("\0")
        .filter((path) => path !== "" && path !== "link")
        .sort(),
    );
    expect((await connection.findFiles({ path: worktree, pattern: "*" })).paths).toEqual(["tree/public.txt"]);
  });

  test("[F26] finds everything in an ignored folder that is named, and everywhere when asked to", async () => {
    execFileSync("git", ["init", "--quiet", folder]);
    await put("lib/a.js", "lib/deep/b.js", "c.js");
    await writeFile(join(folder, ".gitignore"), "lib\n*.js\n");
    expect([
      await find("*.js"),
      await find("*.js", { path: join(folder, "lib/deep") }),
      await find("*.js", { includeIgnored: true }),
    ]).toEqual([[], ["lib/deep/b.js"], ["c.js", "lib/a.js", "lib/deep/b.js"]]);
  });

  test("[F31] sorts and bounds paths, and counts them", async () => {
    await put(...Array.from({ length: 300 }, (_, index) => `${index % 2 ? "a" : "a/b"}/${index}.txt`));
    const standard = await connection.findFiles({ path: folder, pattern: "*.txt" });
    const few = await connection.findFiles({ path: folder, pattern: "*.txt", limit: 3 });
    expect([standard.paths.length, standard.total, few]).toEqual([
      200,
      300,
      { paths: [...standard.paths].sort().slice(0, 3), total: 300, unreadable: 0 },
    ]);
    const long = "x".repeat(200);
    await put(...Array.from({ length: 170 }, (_, index) => `long/${long}${index}`));
    const bounded = await connection.findFiles({ path: folder, pattern: "long/*", limit: 2000 });
    expect([bounded.paths.join("").length <= 32 * 1024, bounded.paths.length > 140, bounded.total]).toEqual([
      true,
      true,
      170,
    ]);
  });

  test("[F34] gives paths that can be used again, wherever they lead", async () => {
    await put("in/a.txt");
    await symlink("in", join(folder, "by-link"));
    const outside = await realpath("/usr/bin");
    const answers = [
      await connection.findFiles({ path: `case-${count}/in`, pattern: "a.txt" }),
      await connection.findFiles({ path: join(folder, "by-link"), pattern: "a.txt" }),
      await connection.findFiles({ path: outside, pattern: "env" }),
    ];
    expect(answers.flatMap(({ paths }) => paths)).toEqual([
      `case-${count}/in/a.txt`,
      `case-${count}/by-link/a.txt`,
      `${outside}/env`,
    ]);
    const own = await connection.findFiles({ pattern: `case-${count}/**` });
    expect(own.paths).toEqual([`case-${count}/in/a.txt`]);
    expect(await connection.searchFiles({ path: join(folder, "in/a.txt"), pattern: "content" })).toEqual({
      files: [{ path: `case-${count}/in/a.txt`, lines: [{ line: 1, text: "content of in/a.txt" }] }],
      totalLines: 1,
      totalFiles: 1,
      tooLarge: { total: 0, paths: [] },
      unreadable: 0,
    });
  });

  test("[F3] [F28] says what cannot be searched, and what is no pattern", async () => {
    await put("a.txt");
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const search = (pattern: string, more: object = {}) =>
      refusal(connection.searchFiles({ path: folder, pattern, ...more }));
    expect([
      await refusal(connection.findFiles({ path: join(folder, "missing"), pattern: "*" })),
      await refusal(connection.findFiles({ path: join(folder, "a.txt"), pattern: "*" })),
      await refusal(connection.findFiles({ path: join(folder, "pipe"), pattern: "*" })),
      await refusal(connection.findFiles({ path: folder, pattern: "../*" })),
      await refusal(connection.findFiles({ path: folder, pattern: "/etc/*" })),
      await search("a\nb"),
      await search(""),
      await search("x".repeat(1001)),
    ]).toEqual([
      "404 /missing does not exist.",
      "400 /a.txt is a file, not a folder to find files in.",
      "400 /pipe is neither a folder nor a file.",
      ...["../*", "/etc/*"].map(
        () =>
          "400 The request is not valid: pattern: A pattern is relative to the searched folder, without `..`; give the folder in `path`.",
      ),
      "400 The request is not valid: pattern: A pattern is compared with single lines; it must not contain line breaks.",
      "400 The request is not valid: pattern: A pattern is required.",
      "400 The request is not valid: pattern: Too big: expected string to have <=1000 characters",
    ]);
    expect(await search("(?=look)")).toMatch(/^400 The pattern is not valid: .*`\(\?=`.*RE2/);
  });
});
