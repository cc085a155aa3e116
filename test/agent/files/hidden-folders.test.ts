// The server's data folder in a workspace: no file tool shows it.
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFolder, startTestAgent, type TestAgent } from "../support.js";

let agent: TestAgent;
let hidden: string;

beforeAll(async () => {
  const parent = await makeFolder();
  hidden = join(parent, "data");
  await mkdir(hidden);
  await symlink(hidden, join(parent, "link"));
  agent = await startTestAgent({ PARLEY_AGENT_HIDDEN_DIRS: join(parent, "link") });
  await symlink(parent, join(agent.folder, "around"));
  await writeFile(join(hidden, "secrets.key"), "canary\n");
  await writeFile(join(parent, "notes.txt"), "canary\n");
});
afterAll(async () => {
  await agent.close();
  await rm(join(hidden, ".."), { recursive: true });
});

test("[F36] files in it are neither listed, found, read, written nor edited, through links either", async () => {
  const { connection } = agent;
  const path = "around/data/secrets.key";
  const gone = expect.stringMatching(/data\/secrets\.key does not exist/);
  expect(await connection.readLines({ path })).toEqual({ success: false, error: gone });
  const edits = [{ oldText: "canary", newText: "bird" }];
  const refused = [
    () => connection.writeFile({ path, content: "mine" }),
    () => connection.editFiles({ files: [{ path, edits }] }),
    () => connection.listDirectory({ path: "around/link" }),
    () => connection.findFiles({ pattern: "**", path: "around/data" }),
    () => connection.searchFiles({ pattern: "canary", path }),
  ];
  for (const attempt of refused) await expect(attempt()).rejects.toMatchObject({ status: 404 });
  const listed = await connection.listDirectory({ path: "around" });
  expect(listed.entries.map(({ name }) => name)).toEqual(["link", "notes.txt"]);
  const everything = { path: "around", includeIgnored: true };
  const found = await connection.findFiles({ pattern: "**", ...everything });
  const lines = await connection.searchFiles({ pattern: "canary", ...everything });
  expect([found.paths, lines.files.map((file) => file.path)]).toEqual([
    ["around/notes.txt"],
    ["around/notes.txt"],
  ]);
});
