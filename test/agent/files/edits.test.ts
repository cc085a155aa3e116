// Guarantees of requests to edit files, on a real agent: atomic, ordered, serialised and reported.
import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applyPatch } from "diff";
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

const at = (...names: string[]) => join(folder, ...names);
const text = (...names: string[]) => readFile(at(...names), "utf8");
const edit = (path: string, oldText: string, newText: string) => ({ path, edits: [{ oldText, newText }] });

/** The message without the path of the case's folder. */
async function refusal(promise: Promise<unknown>) {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof AgentError)) throw error;
  return { status: error.status, message: error.message.replaceAll(`${folder}/`, "") };
}

async function reasonFor(content: string, oldText: string, newText = ""): Promise<string> {
  await writeFile(at("a"), content);
  const { message } = await refusal(connection.editFiles({ files: [edit(at("a"), oldText, newText)] }));
  expect(await text("a")).toBe(content);
  return message.replace("a: oldText was not found. ", "");
}

describe("a request to edit files", () => {
  test("[E2] [E4] [E7] changes several files and says how often; permissions stay", async () => {
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
      edit(`case-${count}/b`, "three", "3"),
    ];
    expect(await connection.editFiles({ files })).toEqual({
      files: [
        { path: at("a"), replacements: 3 },
        { path: `case-${count}/b`, replacements: 1 },
      ],
    });
    expect([await text("a"), await text("b"), (await stat(at("a"))).mode & 0o777]).toEqual([
      "1+2 2",
      "3",
      0o700,
    ]);
  });

  test("[E1] writes nothing when one of the edits fails, and reports all problems", async () => {
    await writeFile(at("a"), "one");
    await writeFile(at("b"), "two two");
    const files = [edit(at("a"), "one", "1"), edit(at("b"), "two", "2"), edit(at("missing"), "x", "y")];
    expect(await refusal(connection.editFiles({ files }))).toEqual({
      status: 404,
      message:
        "b: oldText matches 2 occurrences (on line 1); include more surrounding lines to make it unique, " +
        "or set replaceAll.\nmissing does not exist.",
    });
    expect([await text("a"), await text("b"), await readdir(folder)]).toEqual(["one", "two two", ["a", "b"]]);
  });

  test("[E2] says which of a file's edits fails, also when one before it made it ambiguous", async () => {
    await writeFile(at("a"), "one two");
    const edits = [
      { oldText: "one", newText: "two" },
      { oldText: "two", newText: "three" },
    ];
    expect((await refusal(connection.editFiles({ files: [{ path: at("a"), edits }] }))).message).toBe(
      "a: edit 2 of 2: oldText matches 2 occurrences (on line 1); include more surrounding lines to make it " +
        "unique, or set replaceAll.",
    );
  });

  test("[E3] merges edits of one path in order, but refuses two names for one file", async () => {
    await writeFile(at("a"), "one");
    await symlink("a", at("alias"));
    const merged = [edit(at("a"), "one", "two"), edit(`${folder}/./a`, "two", "three")];
    expect(await connection.editFiles({ files: merged })).toEqual({
      files: [{ path: at("a"), replacements: 2 }],
    });
    const aliased = [edit(at("a"), "three", "x"), edit(at("alias"), "three", "y")];
    expect((await refusal(connection.editFiles({ files: aliased }))).message).toBe(
      "alias and a are aliases of the same file; name it in one way.",
    );
    expect(await text("a")).toBe("three");
  });

  test("[E4] [E7] goes through a link, keeps it, and calls the file by it", async () => {
    await writeFile(at("a"), "one\n");
    await symlink("a", at("alias"));
    expect(
      await connection.editFiles({ includeDiff: true, files: [edit(at("alias"), "one", "two")] }),
    ).toEqual({
      files: [
        {
          path: at("alias"),
          replacements: 1,
          diff: `--- ${at("alias")}\n+++ ${at("alias")}\n@@ -1,1 +1,1 @@\n-one\n+two\n`,
        },
      ],
    });
    expect([await text("a"), (await lstat(at("alias"))).isSymbolicLink()]).toEqual(["two\n", true]);
  });

  test("[E5] [E9] is refused when it makes no sense", async () => {
    await writeFile(at("a"), "one");
    await writeFile(at("latin"), Buffer.from("caf\xe9 one", "latin1"));
    await writeFile(at("large"), "a".repeat(10 * 1024 * 1024 + 1));
    execFileSync("mkfifo", [at("pipe")]);
    const tries: { path: string; edits: { oldText: string; newText: string }[] }[][] = [
      [],
      [{ path: at("a"), edits: [] }],
      [edit("", "one", "two")],
      [edit(at("missing"), "one", "two")],
      [edit(at("a", "below"), "one", "two")],
      [edit(folder, "one", "two")],
      [edit(at("pipe"), "one", "two")],
      [edit(at("latin"), "one", "two")],
      [edit(at("large"), "one", "two")],
      [edit(at("a"), "one", "é".repeat(6 * 1024 * 1024))],
      [edit(at("a"), "one", "a".repeat(10 * 1024 * 1024 + 1))],
      [edit(at("a"), "", "two")],
      [edit(at("a"), "one", "\uD800")],
      [edit(at("a"), "\uDC00", "two")],
    ];
    const refusals: { status: number; message: string }[] = [];
    for (const files of tries) refusals.push(await refusal(connection.editFiles({ files })));
    expect(refusals).toEqual([
      { status: 400, message: "The request is not valid: files: At least one file is required." },
      { status: 400, message: "The request is not valid: files.0.edits: At least one edit is required." },
      { status: 400, message: "The request is not valid: files.0.path: A path is required." },
      { status: 404, message: "missing does not exist." },
      { status: 400, message: "a/below has a parent that is not a directory." },
      { status: 400, message: `${folder} is a directory.` },
      { status: 400, message: "pipe is not a regular file." },
      { status: 400, message: "latin is not UTF-8 text; change it with a command." },
      { status: 413, message: "large has 10485761 bytes, more than the 10485760 that can be edited." },
      { status: 413, message: "a: the result would have more than 10485760 bytes." },
      { status: 413, message: "a: the result would have more than 10485760 characters." },
      {
        status: 400,
        message: "a: oldText must not be empty; give the text to be replaced, or write the file.",
      },
      { status: 400, message: "a: newText has half a character (a lone surrogate)." },
      { status: 400, message: "a: oldText has half a character (a lone surrogate)." },
    ]);
    expect(await text("a")).toBe("one");
  });

  test("[E5] may not change what its user may not", async () => {
    const path = "/sys/kernel/uevent_seqnum";
    const number = (await readFile(path, "utf8")).trim();
    expect((await refusal(connection.editFiles({ files: [edit(path, number, "0")] }))).status).toBe(403);
  });

  test("[E6] loses none of many edits of one file at the same time", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `line-${index};`);
    await writeFile(at("shared"), names.join("\n"));
    await Promise.all(
      names.map((name) => connection.editFiles({ files: [edit(at("shared"), name, `done ${name}`)] })),
    );
    expect(await text("shared")).toBe(names.map((name) => `done ${name}`).join("\n"));
  });

  test("[E6] never puts back what a write at the same time replaced", async () => {
    const lines = "line\n".repeat(20_000);
    await writeFile(at("shared"), `0;mark\n${lines}`);
    let isWriting = true;
    const editing = (async () => {
      let edits = 0;
      for (; isWriting; edits += 1) {
        await connection.editFiles({ files: [edit(at("shared"), "mark\n", "mark\nnew\n")] });
      }
      return edits;
    })();
    const seen: (string | undefined)[] = [];
    for (let round = 1; round <= 20; round += 1) {
      await connection.writeFile({ path: at("shared"), content: `${round};mark\n${lines}` });
      seen.push((await text("shared")).split(";", 1)[0]);
    }
    isWriting = false;
    expect(await editing).toBeGreaterThan(0);
    expect(seen).toEqual(seen.map((_, index) => `${index + 1}`));
  });
});

describe("the diff of an edit", () => {
  async function diffOf(before: string, edits: { oldText: string; newText: string; replaceAll?: boolean }[]) {
    await writeFile(at("a"), before);
    const { files } = await connection.editFiles({ includeDiff: true, files: [{ path: at("a"), edits }] });
    return files[0]?.diff?.replaceAll(at("a"), "a");
  }

  test("[E7] shows all changes of the file together, with three lines around them", async () => {
    const numbers = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`).join("");
    const edits = [
      { oldText: "10\n", newText: "ten\nand more\n" },
      { oldText: "ten", newText: "TEN" },
      { oldText: "20\n", newText: "" },
      { oldText: "30\n", newText: "30" },
    ];
    expect(await diffOf(numbers, edits)).toBe(
      [
        "--- a\n+++ a",
        "@@ -7,7 +7,8 @@\n 7\n 8\n 9\n-10\n+TEN\n+and more\n 11\n 12\n 13",
        "@@ -17,7 +18,6 @@\n 17\n 18\n 19\n-20\n 21\n 22\n 23",
        "@@ -27,4 +27,4 @@\n 27\n 28\n 29\n-30\n+30\n\\ No newline at end of file\n",
      ].join("\n"),
    );
  });

  test("[E7] is empty when edits leave a file as it was, which is then not written", async () => {
    await writeFile(at("a"), "one two");
    const before = (await stat(at("a"))).ino;
    const edits = [
      { oldText: "one", newText: "1" },
      { oldText: "1", newText: "one" },
    ];
    expect(await connection.editFiles({ includeDiff: true, files: [{ path: at("a"), edits }] })).toEqual({
      files: [{ path: at("a"), replacements: 2, diff: "" }],
    });
    expect((await stat(at("a"))).ino).toBe(before);
  });

  test("[E7] applied to the old content it gives the new one, wherever the change is", async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => `${index % 3}\n`).join("");
    for (const [before, oldText, newText] of [
      [numbers, "0\n1\n2\n0\n1\n2\n0\n1\n2\n0\n", "0\n1\n"],
      [`x${numbers}`, "x", ""],
      [`${numbers}x`, "x", "x\n"],
      ["\nx", "\n", ""],
      ["x", "x", "y\r\nz"],
      ["x\r\ny\r\n", "y\r\n", ""],
      ["one line", "one line", ""],
    ] as const) {
      const diff = await diffOf(before, [{ oldText, newText }]);
      expect(applyPatch(before, diff ?? "")).toBe(await text("a"));
    }
  });

  test("[E8] says what it leaves out when it is long, and cuts long lines first", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}\n`).join("");
    const long = await diffOf(lines, [{ oldText: "line", newText: "LINE", replaceAll: true }]);
    expect(Buffer.byteLength(long ?? "")).toBeLessThanOrEqual(32 * 1024);
    expect(long).toMatch(/^--- a\n\+\+\+ a\n@@ -1,5000 \+1,5000 @@\n-line 0\n/);
    expect(long).toMatch(/\n\\ \d+ or more lines of this diff are left out\n$/);
    const wide = await diffOf(`${"a".repeat(100_000)}\nend\n`, [{ oldText: "end", newText: "END" }]);
    expect(wide).toBe(`--- a\n+++ a\n@@ -1,2 +1,2 @@\n ${"a".repeat(1023)}... [cut]\n-end\n+END\n`);
  });

  test("[E8] is shorter for each of very many files", async () => {
    const lines = "line\n".repeat(4000);
    const paths = Array.from({ length: 100 }, (_, index) => at(`many-${index}`));
    await Promise.all(paths.map((path) => writeFile(path, lines)));
    const { files } = await connection.editFiles({
      includeDiff: true,
      files: paths.map((path) => ({ path, edits: [{ oldText: "line", newText: "LINE", replaceAll: true }] })),
    });
    const sizes = files.map(({ diff }) => Buffer.byteLength(diff ?? ""));
    expect([sizes.length, Math.max(...sizes) <= 10_486, Math.min(...sizes) > 9_000]).toEqual([
      100,
      true,
      true,
    ]);
  });
});

describe("an edit that finds nothing says", () => {
  test("[E31] the closest location and the first line that differs there", async () => {
    const content = "one {\n  a();\n}\ntwo {\n  a();\n  b(1);\n}\n";
    expect(await reasonFor(content, "two {\n  a();\n  b(2);\n}\n")).toBe(
      'The closest place begins at line 4: 3 of 4 line(s) match there, but line 6 of the file has "  b(1);" where oldText has "  b(2);".',
    );
    expect(await reasonFor(content, "tow {\n  a();\n  b(1);\n")).toBe(
      'The closest place begins at line 4: 2 of 3 line(s) match there, but line 4 of the file has "two {" where oldText has "tow {".',
    );
    expect(await reasonFor(content, "  b(1);\n}\nthree {\n")).toBe(
      'The closest place begins at line 6: 2 of 3 line(s) match there, but the file ends where oldText has "three {".',
    );
  });

  test("[E31] a text that begins or ends within a line is taken for it", async () => {
    expect(await reasonFor("call(first,\n  second,\n  third)\n", "first,\n  second,\n  fourth")).toBe(
      'The closest place begins at line 1: 1 of 3 line(s) match there, but line 3 of the file has "  third)" where oldText has "  fourth".',
    );
  });

  test("[E31] a line that has other spaces inside, or the same beginning", async () => {
    expect(await reasonFor("a\nfoo( bar,baz )\n", "foo(bar, baz)")).toBe(
      'Line 2 of the file has "foo( bar,baz )" where oldText has "foo(bar, baz)".',
    );
    expect(await reasonFor("x = 1; total = price * count;\n", "total = price + count;")).toBe(
      'Its beginning is at line 1, but line 1 of the file has "total = price * count;" where oldText has "total = price + count;".',
    );
    expect(await reasonFor("x\n", "nowhere at all")).toBe(
      "Read the file again: it must match character by character.",
    );
  });

  test("[E31] of a long line only the part around the difference", async () => {
    const line = `${"abc ".repeat(1000)}`;
    const shown = `…${line.slice(0, 60)}`;
    expect(await reasonFor(`start\n${line}X${line}\n`, `start\n${line}Y\n`)).toBe(
      `The closest place begins at line 1: 1 of 2 line(s) match there, but line 2 of the file has "${shown}X${line.slice(0, 99)}…" where oldText has "${shown}Y".`,
    );
  });

  test("[E32] which characters beyond ASCII only one of them has", async () => {
    expect(await reasonFor("name = café\n", "name = cafe\u0301")).toBe(
      'Line 1 of the file has "name = café" where oldText has "name = cafe\u0301". Beyond ASCII the file has U+00E9 and oldText has U+0301.',
    );
    expect(await reasonFor("first\nva\u200Blue\n", "first\nvalue\n")).toBe(
      'The closest place begins at line 1: 1 of 2 line(s) match there, but line 2 of the file has "va\u200Blue" where oldText has "value". Beyond ASCII the file has U+200B and oldText has nothing more.',
    );
  });

  test("[E33] that only its change of line endings prevented the match", async () => {
    expect(await reasonFor("a\r\nb\r\n", "a\nb\n", "c\r\nd\r\n")).toBe(
      "newText has other line endings than oldText, so that oldText must be in the file exactly; it is there only when line endings do not count.",
    );
  });

  test("[E34] answers in time for ten megabytes of what is hardest to search", async () => {
    const same = "same\n".repeat(2_000_000);
    expect(await reasonFor(same, `other\n${"same\n".repeat(50_000)}`)).toBe(
      'The closest place begins at line 1: 50000 of 50001 line(s) match there, but line 1 of the file has "same" where oldText has "other".',
    );
    const letters = "a".repeat(10 * 1024 * 1024);
    expect(await reasonFor(letters, `ab${"a".repeat(500_000)}`)).toBe(
      "Read the file again: it must match character by character.",
    );
  });
});

test("[E11] an ambiguous text is counted, with the lines of the first matches", async () => {
  const advice = "include more surrounding lines to make it unique, or set replaceAll.";
  expect(await reasonFor("x\ny\nx\n", "x")).toBe(
    `a: oldText matches 2 occurrences (on lines 1, 3); ${advice}`,
  );
  expect(await reasonFor("x\n".repeat(9), "x")).toBe(
    `a: oldText matches 9 occurrences (on lines 1, 2, 3, 4, 5 and further on); ${advice}`,
  );
  expect(await reasonFor("aaa", "aa")).toBe(`a: oldText matches 2 occurrences (on line 1); ${advice}`);
  expect(await reasonFor("a \nb\na\t\n", "a\n")).toBe(
    `a: oldText matches 2 occurrences when spaces at line ends do not count (on lines 1, 3); ${advice}`,
  );
});
