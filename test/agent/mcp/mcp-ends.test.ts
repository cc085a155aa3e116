// MCP servers when the workspace or its agent goes away.
import { rm } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  callText,
  isAlive,
  startMcpWorkspace,
  testServer,
  writeServers,
  type McpWorkspace,
} from "./mcp-support.js";

let workspace: McpWorkspace;
beforeEach(async () => {
  workspace = await startMcpWorkspace();
});
afterEach(() => workspace.close());

test("[M7] starts servers in the home directory when the workspace was removed", async () => {
  await writeServers(workspace.home, { one: testServer() }, "mine.json");
  const before = await workspace.where("one");
  await rm(workspace.agent.folder, { recursive: true });
  await writeServers(workspace.home, { two: testServer() }, "mine.json");
  expect([before.cwd, (await workspace.where("two")).cwd]).toEqual([workspace.agent.folder, workspace.home]);
});

test("[M23] the end of the agent is the end of its servers, of what they started, and of those that do not listen", async () => {
  await writeServers(workspace.agent.folder, { one: testServer(), two: testServer() });
  const pids = [
    (await workspace.where("one")).pid,
    (await workspace.where("two")).pid,
    Number(await callText(workspace.agent.connection, "one__parent")),
    Number(await callText(workspace.agent.connection, "two__ignores")),
  ];
  expect(pids.map(isAlive)).toEqual([true, true, true, true]);
  await workspace.agent.close();
  expect(pids.map(isAlive)).toEqual([false, false, false, false]);
});
