import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AgentError, type AgentConnection } from "../../src/workspaces/agent-connection.js";
import { startTestAgent, type TestAgent } from "./support.js";

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

const at = (...names: string[]) => join(folder, ...names);
const text = (...names: string[]) => readFile(at(...names), "utf8");

async function refusal(promise: Promise<unknown>) {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof AgentError)) throw error;
  return { status: error.status, message: error.message };
}

describe("reading lines", () => {
  test("numbers them; a newline at the end begins no line", async () => {
    await writeFile(at("a"), "one\ntwo\r\n\nfour\n");
    expect(await connection.readLines({ path: at("a") })).toEqual({
      success: true,
      fileSize: 15,
      totalLines: 4,
      linesRead: 4,
      content: "1\tone\n2\ttwo\r\n3\t\n4\tfour",
    });
  });

  test("takes a part, from a relative path", async () => {
    await writeFile(at("a"), "1\n2\n3\n4\n5");
    expect(await connection.readLines({ path: `case-${count}/a`, offset: 2, limit: 3 })).toEqual({
      success: true,
      fileSize: 9,
      totalLines: 5,
      linesRead: 3,
      content: "2\t2\n3\t3\n4\t4",
    });
  });

  test("gives nothing for an empty file", async () => {
    await writeFile(at("empty"), "");
    expect(await connection.readLines({ path: at("empty"), offset: 5 })).toEqual({
      success: true,
      fileSize: 0,
      totalLines: 0,
      linesRead: 0,
      content: "",
    });
  });

  test("cuts a long line between characters", async () => {
    await writeFile(at("long"), "€".repeat(1000));
    expect(await connection.readLines({ path: at("long") })).toMatchObject({
      content: `1\t${"€".repeat(341)}... [truncated]`,
    });
  });

  test("stops after 2000 lines, and says so when more are asked for", async () => {
    await writeFile(at("many"), "x\n".repeat(2500));
    expect(await connection.readLines({ path: at("many") })).toMatchObject({
      linesRead: 2000,
      totalLines: 2500,
    });
    expect(await connection.readLines({ path: at("many"), limit: 2400 })).toEqual({
      success: false,
      error: "2400 lines are more than the 2000 shown at once; set limit to 2000 or less.",
    });
  });

  test("says how many lines fit when they are too many bytes", async () => {
    await writeFile(at("wide"), `${"x".repeat(1000)}\n`.repeat(100));
    const answer = await connection.readLines({ path: at("wide"), offset: 11 });
    expect(answer).toEqual({
      success: false,
      error: `The lines exceed the 32768 bytes shown at once (${at("wide")} has 100 lines); call again with offset=11 and limit=32, then go on from there.`,
    });
    expect(await connection.readLines({ path: at("wide"), offset: 11, limit: 32 })).toMatchObject({
      linesRead: 32,
    });
  });

  test("says why a file cannot be shown", async () => {
    await writeFile(at("binary"), Buffer.from([1, 0, 2]));
    await writeFile(at("large"), Buffer.alloc(1024 * 1024 + 1, "x"));
    await writeFile(at("short"), "1\n2\n");
    execFileSync("mkfifo", [at("pipe")]);
    const requests = [
      { path: at("missing") },
      { path: folder },
      { path: at("pipe") },
      { path: at("binary") },
      { path: at("large") },
      { path: at("short"), offset: 3 },
      { path: at("short", "below") },
    ];
    const errors: string[] = [];
    for (const request of requests) {
      const answer = await connection.readLines(request);
      if (!answer.success) errors.push(answer.error.replaceAll(folder, ""));
    }
    expect(errors).toEqual([
      "/missing does not exist.",
      " is a directory; list it with a command.",
      "/pipe is not a regular file.",
      "/binary is a binary file (3 bytes); it cannot be shown as lines.",
      "/large has 1048577 bytes, more than the 1048576 that can be read; show parts of it with a command (for example sed -n '1,100p').",
      "offset 3 is beyond the end: /short has 2 line(s).",
      "/short/below has a parent that is not a directory.",
    ]);
  });

  test("shows files that the system makes up, whose size is said to be zero", async () => {
    expect(await connection.readLines({ path: "/proc/self/status", limit: 1 })).toMatchObject({
      linesRead: 1,
    });
  });
});

describe("writing a file", () => {
  test("makes it with its parents, in the mode that the umask leaves", async () => {
    expect(await connection.writeFile({ path: at("new", "deep", "file"), content: "héllo" })).toEqual({
      path: at("new", "deep", "file"),
      bytes: 6,
    });
    expect([await text("new", "deep", "file"), (await stat(at("new", "deep", "file"))).mode & 0o777]).toEqual(
      ["héllo", 0o666 & ~process.umask()],
    );
  });

  test("keeps the mode of a file that is there and leaves nothing beside it", async () => {
    await writeFile(at("script"), "old");
    await chmod(at("script"), 0o750);
    await connection.writeFile({ path: at("script"), content: "new" });
    expect([await text("script"), (await stat(at("script"))).mode & 0o7777, await readdir(folder)]).toEqual([
      "new",
      0o750,
      ["script"],
    ]);
  });

  test("follows links in every part of the path, also one that dangles, and keeps them", async () => {
    await mkdir(at("real"));
    await symlink("real", at("linked"));
    await symlink("../file-by-link", at("real", "file"));
    const answer = await connection.writeFile({ path: at("linked", "file"), content: "through" });
    expect(answer.path).toBe(at("file-by-link"));
    expect([await text("file-by-link"), (await lstat(at("real", "file"))).isSymbolicLink()]).toEqual([
      "through",
      true,
    ]);
  });

  test("refuses what is no file and what cannot be", async () => {
    await writeFile(at("plain"), "old");
    await symlink("loop", at("loop"));
    execFileSync("mkfifo", [at("pipe")]);
    const write = async (path: string, content = "x") => {
      const { status, message } = await refusal(connection.writeFile({ path, content }));
      return `${status} ${message.replaceAll(folder, "")}`;
    };
    expect([
      await write(folder),
      await write(at("plain", "below")),
      await write(at("loop")),
      await write(at("pipe")),
      await write(`${at("directory")}/`),
      await write(at("x".repeat(300))),
      await write(at("large"), "x".repeat(10 * 1024 * 1024 + 1)),
    ]).toEqual([
      "400  is a directory.",
      "400 /plain/below has a parent that is not a directory.",
      "400 /loop has too many levels of symbolic links.",
      "400 /pipe is not a regular file.",
      "400 /directory/ names a directory.",
      `400 /${"x".repeat(300)} is too long.`,
      "413 The content has 10485761 bytes, more than the 10485760 that can be written.",
    ]);
    expect([await text("plain"), (await readdir(folder)).sort()]).toEqual(["old", ["loop", "pipe", "plain"]]);
  });

  test("takes ten megabytes, and a name of the longest length", async () => {
    const content = "0123456789\n".repeat(950_000);
    await connection.writeFile({ path: at("large"), content });
    await connection.writeFile({ path: at("é".repeat(127)), content: "long name" });
    expect([(await stat(at("large"))).size, await text("é".repeat(127))]).toEqual([
      content.length,
      "long name",
    ]);
  });
});

describe("editing files", () => {
  test("changes several files and says how often", async () => {
    await writeFile(at("a"), "one two two");
    await writeFile(at("b"), "three");
    await chmod(at("a"), 0o700);
    const files = [
      {
        path: at("a"),
        edits: [
          { oldText: "two", newText: "2", replaceAll: true },
          { oldText: "one 2", newText: "1+2" },
        ],
      },
      { path: at("b"), edits: [{ oldText: "three", newText: "3" }] },
    ];
    expect(await connection.editFiles({ files })).toEqual({
      files: [
        { path: at("a"), replacements: 3 },
        { path: at("b"), replacements: 1 },
      ],
    });
    expect([await text("a"), await text("b"), (await stat(at("a"))).mode & 0o777]).toEqual([
      "1+2 2",
      "3",
      0o700,
    ]);
  });

  test("writes nothing when one of the edits fails, and tells all that is wrong", async () => {
    await writeFile(at("a"), "one");
    await writeFile(at("b"), "two two");
    const files = [
      { path: at("a"), edits: [{ oldText: "one", newText: "1" }] },
      { path: at("b"), edits: [{ oldText: "two", newText: "2" }] },
      { path: at("missing"), edits: [{ oldText: "x", newText: "y" }] },
    ];
    expect(await refusal(connection.editFiles({ files }))).toEqual({
      status: 404,
      message: `${at("b")}: oldText matches 2 occurrences; include more surrounding lines to make it unique, or set replaceAll.\n${at("missing")} does not exist.`,
    });
    expect([await text("a"), await text("b"), await readdir(folder)]).toEqual(["one", "two two", ["a", "b"]]);
  });

  test("merges edits of one path in order, but refuses two names for one file", async () => {
    await writeFile(at("a"), "one");
    await symlink("a", at("alias"));
    const edit = (path: string, oldText: string, newText: string) => ({
      path,
      edits: [{ oldText, newText }],
    });
    const merged = [edit(at("a"), "one", "two"), edit(`${folder}/./a`, "two", "three")];
    expect(await connection.editFiles({ files: merged })).toEqual({
      files: [{ path: at("a"), replacements: 2 }],
    });
    const aliased = [edit(at("a"), "three", "x"), edit(at("alias"), "three", "y")];
    expect((await refusal(connection.editFiles({ files: aliased }))).message).toBe(
      `${at("alias")} and ${at("a")} are aliases of the same file; name it in one way.`,
    );
    expect(await text("a")).toBe("three");
  });

  test("goes through a link and keeps it", async () => {
    await writeFile(at("a"), "one");
    await symlink("a", at("alias"));
    await connection.editFiles({
      files: [{ path: at("alias"), edits: [{ oldText: "one", newText: "two" }] }],
    });
    expect([await text("a"), (await lstat(at("alias"))).isSymbolicLink()]).toEqual(["two", true]);
  });

  test("loses none of many edits of one file at the same time", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `line-${index};`);
    await writeFile(at("shared"), names.join("\n"));
    await Promise.all(
      names.map((name) =>
        connection.editFiles({
          files: [{ path: at("shared"), edits: [{ oldText: name, newText: `done ${name}` }] }],
        }),
      ),
    );
    expect(await text("shared")).toBe(names.map((name) => `done ${name}`).join("\n"));
  });

  test("refuses bytes that it could not write back as they are", async () => {
    await writeFile(at("latin"), Buffer.from("caf\xe9 one", "latin1"));
    const files = [{ path: at("latin"), edits: [{ oldText: "one", newText: "two" }] }];
    expect(await refusal(connection.editFiles({ files }))).toEqual({
      status: 400,
      message: `${at("latin")} is not UTF-8 text; change it with a command.`,
    });
  });

  test("keeps a byte order mark and the line endings", async () => {
    await writeFile(at("windows"), "\uFEFFone\r\ntwo\r\n");
    await connection.editFiles({
      files: [{ path: at("windows"), edits: [{ oldText: "two", newText: "2" }] }],
    });
    expect(await text("windows")).toBe("\uFEFFone\r\n2\r\n");
  });

  test("says which edit does not match and where it came close", async () => {
    await writeFile(at("a"), "alpha\nbeta\ngamma\n");
    const edits = [
      { oldText: "alpha", newText: "ALPHA" },
      { oldText: "beta\ndelta", newText: "" },
    ];
    expect((await refusal(connection.editFiles({ files: [{ path: at("a"), edits }] }))).message).toBe(
      `${at("a")}: edit 2 of 2: oldText was not found. The closest match begins at line 2: its first 1 line(s) match, but line 3 of the file is "gamma" where oldText has "delta".`,
    );
  });
});
