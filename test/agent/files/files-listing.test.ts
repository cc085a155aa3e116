import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AgentError, type AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { startTestAgent, type TestAgent } from "../support.js";
import { has } from "../../support/requirements.js";

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

async function refusal(promise: Promise<unknown>) {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof AgentError)) throw error;
  return `${error.status} ${error.message.replaceAll(folder, "")}`;
}

describe("resolving a path", () => {
  test("[F1] begins at the agent's directory, at the root, or at home", async () => {
    const paths = ["a/../b", "/none/./c", "~/d", "~"];
    const resolved = await Promise.all(paths.map((path) => connection.resolvePath(path)));
    expect(resolved).toEqual([
      { path: join(agent.folder, "b") },
      { path: "/none/c" },
      { path: join(homedir(), "d") },
      { path: homedir() },
    ]);
  });

  test("[F2] follows links in every part and keeps what is missing", async () => {
    await mkdir(at("real"));
    await symlink("real", at("linked"));
    await symlink("../nowhere/deep", at("real", "dangling"));
    expect([
      await connection.resolvePath(at("linked", "dangling", "new.txt")),
      await connection.resolvePath(at("linked", "..", "x")),
    ]).toEqual([{ path: at("nowhere", "deep", "new.txt") }, { path: at("x") }]);
  });

  test("[F2] follows forty links and not one more", async () => {
    await writeFile(at("link-0"), "end");
    for (let index = 1; index <= 41; index += 1) await symlink(`link-${index - 1}`, at(`link-${index}`));
    expect(await connection.resolvePath(at("link-40"))).toEqual({ path: at("link-0") });
    expect(await refusal(connection.resolvePath(at("link-41")))).toBe(
      "400 /link-41 has too many levels of symbolic links.",
    );
  });
});

describe("listing a directory", () => {
  test("[F4] [F5] shows directories first, then by bytes, with sizes and where links lead", async () => {
    await mkdir(at("zoo"));
    await mkdir(at(".hidden"));
    await writeFile(at("b"), "12345");
    await writeFile(at("B"), "");
    await writeFile(at("é"), "é");
    await symlink("zoo", at("to-folder"));
    await symlink("b", at("to-file"));
    await symlink("gone", at("to-nothing"));
    await symlink("round", at("round"));
    execFileSync("mkfifo", [at("pipe")]);
    expect(await connection.listDirectory({ path: folder })).toEqual({
      path: folder,
      total: 10,
      entries: [
        { name: ".hidden", kind: "directory" },
        { name: "to-folder", kind: "directory", linkTarget: "zoo" },
        { name: "zoo", kind: "directory" },
        { name: "B", kind: "file", size: 0 },
        { name: "b", kind: "file", size: 5 },
        { name: "pipe", kind: "other" },
        { name: "round", kind: "broken-link", linkTarget: "round" },
        { name: "to-file", kind: "file", size: 5, linkTarget: "b" },
        { name: "to-nothing", kind: "broken-link", linkTarget: "gone" },
        { name: "é", kind: "file", size: 2 },
      ],
    });
  });

  test("[F6] is bounded and says how many entries there are", async () => {
    await Promise.all(Array.from({ length: 600 }, (_, index) => writeFile(at(`file-${index}`), "")));
    const standard = await connection.listDirectory({ path: folder });
    const few = await connection.listDirectory({ path: folder, limit: 2 });
    expect([standard.entries.length, standard.total, few.entries.map(({ name }) => name), few.total]).toEqual(
      [500, 600, ["file-0", "file-1"], 600],
    );
    expect(await refusal(connection.listDirectory({ path: folder, limit: 5_001 }))).toMatch(/^400 .*limit/);
  });

  test("[F1] takes the agent's own directory when none is named, and relative ones", async () => {
    const own = await connection.listDirectory({});
    const relative = await connection.listDirectory({ path: `case-${count}` });
    expect([own.path, own.entries.at(-1)?.name, relative]).toEqual([
      agent.folder,
      `case-${count}`,
      { path: folder, entries: [], total: 0 },
    ]);
  });

  test("[F3] says what cannot be listed", async () => {
    await writeFile(at("plain"), "");
    expect([
      await refusal(connection.listDirectory({ path: at("missing") })),
      await refusal(connection.listDirectory({ path: at("plain") })),
      await refusal(connection.listDirectory({ path: at("plain", "below") })),
      await refusal(connection.listDirectory({ path: "a\0b" })),
    ]).toEqual([
      "404 /missing does not exist.",
      "400 /plain is not a directory; it can be read, not listed.",
      "400 /plain/below has a parent that is not a directory.",
      "400 The request is not valid: path: A path must not contain a NUL character.",
    ]);
  });

  test.skipIf(!has("not-root"))("[F3] says that permission is missing", async () => {
    await mkdir(at("locked"));
    await chmod(at("locked"), 0);
    expect(await refusal(connection.listDirectory({ path: at("locked") }))).toBe(
      "403 /locked may not be accessed: permission denied.",
    );
  });
});

describe("reading bytes", () => {
  const all = Buffer.from([0, 255, 10, 13, 128, 65]);

  test("[F7] gives them as they are, whole or a part", async () => {
    await writeFile(at("raw"), all);
    const path = at("raw");
    const answers = [
      await connection.readBytes({ path }),
      await connection.readBytes({ path, offset: 1, limit: 0 }),
      await connection.readBytes({ path, offset: 2, limit: 3 }),
      await connection.readBytes({ path, offset: 4, limit: 100 }),
      await connection.readBytes({ path, offset: 6 }),
      await connection.readBytes({ path, offset: 9e15, limit: 5 }),
    ];
    expect(answers.map(({ bytes, fileSize }) => [Buffer.from(bytes), fileSize])).toEqual([
      [all, 6],
      [all.subarray(1), 6],
      [all.subarray(2, 5), 6],
      [all.subarray(4), 6],
      [Buffer.alloc(0), 6],
      [Buffer.alloc(0), 6],
    ]);
  });

  test("[F7] streams a large file in parts", async () => {
    const size = 40 * 1024 * 1024;
    await writeFile(at("large"), Buffer.alloc(size, "x"));
    const lengths: number[] = [];
    for (let offset = 0; offset < size; offset += lengths.at(-1) ?? size) {
      const { bytes, fileSize } = await connection.readBytes({ path: at("large"), offset });
      expect([fileSize, bytes.every((byte) => byte === 0x78)]).toEqual([size, true]);
      lengths.push(bytes.length);
    }
    expect(lengths).toEqual([16, 16, 8].map((megabytes) => megabytes * 1024 * 1024));
  });

  test("[F3] [F8] refuses what is no regular file and what is no number", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    await writeFile(at("raw"), all);
    expect([
      await refusal(connection.readBytes({ path: at("pipe") })),
      await refusal(connection.readBytes({ path: folder })),
      await refusal(connection.readBytes({ path: at("missing") })),
      await refusal(connection.readBytes({ path: at("raw"), offset: -1 })),
      await refusal(connection.readBytes({ path: at("raw"), limit: -1 })),
      await refusal(connection.readBytes({ path: at("raw"), limit: 1.5 })),
    ]).toEqual([
      "400 /pipe is not a regular file.",
      "400  is a directory.",
      "404 /missing does not exist.",
      "400 The request is not valid: offset: Too small: expected number to be >=0",
      "400 The request is not valid: limit: Too small: expected number to be >=0",
      "400 The request is not valid: limit: Invalid input: expected int, received number",
    ]);
  });
});
