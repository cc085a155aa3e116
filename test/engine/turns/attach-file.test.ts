// The attach_file tool, called as a model calls it, with a real agent.
import { mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import { attachFileTool } from "../../../src/engine/tools/files/attach-file.js";
import { startTestAgent, type TestAgent } from "../../agent/support.js";
import { PDF, PNG } from "../../providers/requests/histories.js";
import { noAgents } from "../../support/workspaces/no-agents.js";

const MIB = 1024 * 1024;

let agent: TestAgent;
beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(() => agent.close());

function attach(args: JsonObject) {
  return attachFileTool.run(args, {
    workspace: () => Promise.resolve(agent.connection.forChat("chat-1")),
    output: () => undefined,
    agents: noAgents,
    idempotencyKey: "call-1",
    signal: new AbortController().signal,
  });
}

test.each([
  ["out/chart.png", PNG, {}, "chart.png", "image/png"],
  ["paper", PDF, { name: "../The paper.pdf" }, "The paper.pdf", "application/pdf"],
  ["notes.md", Buffer.from("# Größer\n"), {}, "notes.md", "text/markdown"],
  ["fake.png", Buffer.from("no picture"), {}, "fake.png", "text/plain"],
  ["core.dump", Buffer.from([0, 1, 2, 0xff]), {}, "core.dump", "application/octet-stream"],
  ["empty.log", Buffer.alloc(0), {}, "empty.log", "text/plain"],
])("%s becomes a file of the chat, as what it is", async (path, bytes, more, name, mediaType) => {
  await mkdir(join(agent.folder, "out"), { recursive: true });
  await writeFile(join(agent.folder, path), bytes);
  const { result, isError, files } = await attach({ path, ...more });
  expect([result, isError]).toEqual([{ name, media_type: mediaType, size_bytes: bytes.length }, false]);
  expect(files?.map((file) => [file.name, file.mediaType, Buffer.from(file.bytes).equals(bytes)])).toEqual([
    [name, mediaType, true],
  ]);
});

test("ten MiB can be attached, but not a byte more, and nothing that is not a file", async () => {
  const path = join(agent.folder, "large.bin");
  await writeFile(path, "");
  await truncate(path, 10 * MIB);
  expect((await attach({ path })).files?.[0]?.bytes.length).toBe(10 * MIB);
  await truncate(path, 10 * MIB + 1);
  expect(await attach({ path: "large.bin" })).toEqual({
    result: { error: "large.bin has 10485761 bytes; at most 10485760 can be attached." },
    isError: true,
  });
  expect(await attach({ path: "out" })).toMatchObject({
    result: { error: expect.stringContaining("is a directory") as string },
    isError: true,
  });
  expect(await attach({ path: "missing.txt" })).toMatchObject({ isError: true });
});
