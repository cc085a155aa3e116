import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  watch,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
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
const text = (...names: string[]) => readFile(at(...names), "utf8");

async function refusal(promise: Promise<unknown>) {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof AgentError)) throw error;
  return { status: error.status, message: error.message };
}

describe("writing a file", () => {
  test("[F17] makes it with its parents, in the mode that the umask leaves", async () => {
    expect(await connection.writeFile({ path: at("new", "deep", "file"), content: "héllo" })).toEqual({
      path: at("new", "deep", "file"),
      bytes: 6,
    });
    const modeOf = async (...names: string[]) => (await stat(at(...names))).mode & 0o777;
    expect([
      await text("new", "deep", "file"),
      await modeOf("new", "deep", "file"),
      await modeOf("new"),
      await modeOf("new", "deep"),
    ]).toEqual(["héllo", 0o666 & ~process.umask(), 0o755 & ~process.umask(), 0o755 & ~process.umask()]);
  });

  test("[F18] keeps the mode and owner of a file that is there and leaves nothing beside it", async () => {
    await writeFile(at("script"), "old");
    // Only root may change the owner of a file.
    const owner = process.getuid?.() === 0 ? 12_345 : (await stat(at("script"))).uid;
    await chown(at("script"), owner, -1);
    await chmod(at("script"), 0o4750);
    await connection.writeFile({ path: at("script"), content: "new" });
    const { mode, uid } = await stat(at("script"));
    expect([await text("script"), mode & 0o7777, uid, await readdir(folder)]).toEqual([
      "new",
      0o4750,
      owner,
      ["script"],
    ]);
  });

  test("[F2] [F19] follows links in every part of the path, also one that dangles, and keeps them", async () => {
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

  test("[F3] [F21] refuses what is no file and what cannot be", async () => {
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
      await write(at("missing", "..", "plain", "x")),
      await write(at("large"), "x".repeat(10 * 1024 * 1024 + 1)),
    ]).toEqual([
      "400  is a directory.",
      "400 /plain/below has a parent that is not a directory.",
      "400 /loop has too many levels of symbolic links.",
      "400 /pipe is not a regular file.",
      "400 /directory/ names a directory.",
      `400 /${"x".repeat(300)} is too long.`,
      "400 /plain/x has a parent that is not a directory.",
      "413 The content has 10485761 bytes, more than the 10485760 that can be written.",
    ]);
    expect([await text("plain"), (await readdir(folder)).sort()]).toEqual(["old", ["loop", "pipe", "plain"]]);
  });

  test("[F22] takes ten megabytes, and a name of the longest length", async () => {
    const content = "0123456789\n".repeat(950_000);
    await connection.writeFile({ path: at("large"), content });
    await connection.writeFile({ path: at("é".repeat(127)), content: "long name" });
    expect([(await stat(at("large"))).size, await text("é".repeat(127))]).toEqual([
      content.length,
      "long name",
    ]);
  });

  test("[F20] shows readers the old content or the new, never a part", async () => {
    const contents = ["a", "b"].map((letter) => `${letter.repeat(999)}\n`.repeat(1_000));
    await writeFile(at("shared"), contents[0] ?? "");
    let isWriting = true;
    const seen = new Set<string>();
    const watching = (async () => {
      while (isWriting) seen.add(await text("shared"));
    })();
    for (let round = 0; round < 20; round += 1) {
      await connection.writeFile({ path: at("shared"), content: contents[round % 2] ?? "" });
    }
    isWriting = false;
    await watching;
    expect([...seen].filter((content) => !contents.includes(content))).toEqual([]);
    expect(await readdir(folder)).toEqual(["shared"]);
  });

  test("[F20] stages the content in a hidden file beside", async () => {
    const names = new Set<string>();
    const watching = new AbortController();
    const watched = (async () => {
      for await (const { filename } of watch(folder, { signal: watching.signal })) names.add(filename ?? "");
    })().catch(() => {});
    await connection.writeFile({ path: at("seen"), content: "x" });
    await expect.poll(() => names.has("seen")).toBe(true);
    watching.abort();
    await watched;
    expect([...names].sort()).toEqual([expect.stringMatching(/^\.seen\.tmp\.[0-9a-f]{8}$/), "seen"]);
  });

  test("[F23] takes one write or edit of a file after the other", async () => {
    await writeFile(at("shared"), "0");
    const writes = Array.from({ length: 20 }, (_, index) =>
      connection.writeFile({ path: at("shared"), content: `${index}\n`.repeat(10_000) }),
    );
    const edit = connection.editFiles({
      files: [{ path: at("shared"), edits: [{ oldText: "0", newText: "1", replaceAll: true }] }],
    });
    await Promise.all([...writes, edit.catch(() => {})]);
    const lines = new Set((await text("shared")).split("\n").slice(0, -1));
    expect([lines.size, await readdir(folder)]).toEqual([1, ["shared"]]);
  });

  const disk = has("root") ? mountSmallDisk() : undefined;

  test.skipIf(disk === undefined)(
    "[F3] [F21] leaves the original as it was when the disk is full",
    async () => {
      const path = join(disk ?? "", "kept");
      await connection.writeFile({ path, content: "old" });
      const { status, message } = await refusal(connection.writeFile({ path, content: "x".repeat(500_000) }));
      expect([status, message, await readFile(path, "utf8"), await readdir(disk ?? "")]).toEqual([
        507,
        `${path} does not fit: no space is left on the device.`,
        "old",
        ["kept"],
      ]);
    },
  );

  test("[F20] leaves the old content or the new when the agent is killed in the middle", async () => {
    await writeFile(at("kept"), "old");
    const content = "x".repeat(10 * 1024 * 1024);
    const other = await startTestAgent();
    try {
      const writing = Array.from({ length: 4 }, () =>
        other.connection.writeFile({ path: at("kept"), content }),
      );
      const killing = other.connection.startProcess({ command: "kill -KILL $PPID" });
      const outcomes = await Promise.allSettled([...writing, killing]);
      expect(outcomes.map(({ status }) => status)).toContain("rejected");
      expect(["old", content]).toContain(await text("kept"));
    } finally {
      await other.close();
    }
  });
});

/** A file system of 100 kB, unmounted after the tests; undefined without the permission to mount. */
function mountSmallDisk(): string | undefined {
  const path = mkdtempSync(join(tmpdir(), "parley-disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=100k", "tmpfs", path]);
  afterAll(() => {
    if (status === 0) spawnSync("umount", [path]);
    rmdirSync(path);
  });
  return status === 0 ? path : undefined;
}
