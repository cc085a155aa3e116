import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
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

describe("reading lines", () => {
  test("[F9] numbers them; a newline at the end begins no line", async () => {
    await writeFile(at("a"), "one\ntwo\r\n\nfour\n");
    expect(await connection.readLines({ path: at("a") })).toEqual({
      success: true,
      fileSize: 15,
      totalLines: 4,
      linesRead: 4,
      content: "1\tone\n2\ttwo\r\n3\t\n4\tfour",
    });
  });

  test("[F1] [F10] takes a part, from a relative path", async () => {
    await writeFile(at("a"), "1\n2\n3\n4\n5");
    expect(await connection.readLines({ path: `case-${count}/a`, offset: 2, limit: 3 })).toEqual({
      success: true,
      fileSize: 9,
      totalLines: 5,
      linesRead: 3,
      content: "2\t2\n3\t3\n4\t4",
    });
  });

  test("[F15] gives nothing for an empty file", async () => {
    await writeFile(at("empty"), "");
    expect(await connection.readLines({ path: at("empty"), offset: 5 })).toEqual({
      success: true,
      fileSize: 0,
      totalLines: 0,
      linesRead: 0,
      content: "",
    });
  });

  test("[F11] cuts a long line between characters", async () => {
    await writeFile(at("long"), "€".repeat(1000));
    expect(await connection.readLines({ path: at("long") })).toMatchObject({
      content: `1\t${"€".repeat(341)}... [truncated]`,
    });
  });

  test("[F10] stops after 2000 lines, and says so when more are asked for", async () => {
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

  test("[F12] says how many lines fit when they are too many bytes", async () => {
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

  test("[F13] [F14] says why a file cannot be shown", async () => {
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
      " is a directory; it can be listed, not read.",
      "/pipe is not a regular file.",
      "/binary is a binary file (3 bytes); it cannot be shown as lines.",
      "/large has 1048577 bytes, more than the 1048576 that can be read; show parts of it with a command (for example sed -n '1,100p').",
      "offset 3 is beyond the end: /short has 2 line(s).",
      "/short/below has a parent that is not a directory.",
    ]);
  });

  test("[F16] shows files that the system makes up, whose size is said to be zero", async () => {
    expect(await connection.readLines({ path: "/proc/self/status", limit: 1 })).toMatchObject({
      linesRead: 1,
    });
  });
});
