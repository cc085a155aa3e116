// Permission for the workspace's MCP servers: nothing of a configuration file is started without it.
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { entryText, type McpPermissions } from "../../../src/domain/mcp/workspace-entry.js";
import { hashOf } from "../../../src/lib/hash.js";
import { makeFolder, startTestAgent, type TestAgent } from "../support.js";
import {
  callText,
  EVERYTHING,
  isAlive,
  linesOf,
  refusal,
  statuses,
  testServer,
  until,
  writeServers,
  type Entry,
} from "./mcp-support.js";

let agent: TestAgent;
let revision = 0;
beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(() => agent.close());
beforeEach(async () => {
  await writeFile(inWorkspace(".mcp.json"), "{}");
  await writeFile(inWorkspace("starts"), "");
  await allow();
});

const inWorkspace = (path: string) => join(agent.folder, path);
const started = () => linesOf(inWorkspace("starts")).filter((line) => line !== "");
const hashOfEntry = (name: string, { command, args, env }: Entry) =>
  hashOf(entryText({ name, transport: "stdio", command, args, env }));
const permissionsFor = (...hashes: string[]): McpPermissions => {
  revision += 1;
  return { ...EVERYTHING, isEverything: false, revision, hashes };
};
const allow = (...hashes: string[]) => agent.connection.mcpTools({ permissions: permissionsFor(...hashes) });
const server = (...args: string[]) => testServer({ STARTS: inWorkspace("starts") }, ...args);
const pidOf = async (name: string) =>
  (JSON.parse(await callText(agent.connection, `${name}__where`)) as { pid: number }).pid;

test("[M29] an entry is not started before it is allowed, whoever asks, and is reported as it is written", async () => {
  await writeServers(agent.folder, { one: { ...server("${HOME}"), cwd: "ignored" } });
  const answer = await agent.connection.mcpTools({ refresh: true });
  const call = await refusal(agent.connection.callMcpTool({ name: "one__where", arguments: {} }));
  expect([answer, call, started()]).toEqual([
    {
      revision: expect.any(String) as string,
      servers: [{ name: "one", configFile: inWorkspace(".mcp.json"), status: "pending", toolCount: 0 }],
      tools: [],
      fileProblems: [],
      requests: [
        {
          configFile: inWorkspace(".mcp.json"),
          entry: { name: "one", transport: "stdio", ...server("${HOME}") },
        },
      ],
    },
    {
      status: 403,
      message: "The MCP server one is not allowed: a user of the workspace must allow it before it starts.",
    },
    [],
  ]);
  const allowed = await allow(hashOfEntry("one", server("${HOME}")));
  expect([statuses(allowed), allowed.requests, started().length]).toEqual([{ one: "ready" }, [], 1]);
});

test("[M29] another name, argument or variable is another entry; the allowed one goes on until then", async () => {
  await writeServers(agent.folder, { one: server() });
  await allow(hashOfEntry("one", server()));
  const pid = await pidOf("one");
  const changed = { ...server(), env: { ...server().env, LD_PRELOAD: "./evil.so" } };
  await writeServers(agent.folder, { one: changed, two: server() });
  // The watch of the files sees the change as well: with the list, both have had their chance to start something.
  const answer = await agent.connection.mcpTools({ refresh: true });
  expect([
    statuses(answer),
    answer.requests.map(({ entry }) => entry),
    await pidOf("one"),
    started().length,
  ]).toEqual([
    {
      one: "Its changed entry is not allowed yet. Its former configuration stays in use.",
      two: "pending",
    },
    [
      { name: "one", transport: "stdio", ...changed },
      { name: "two", transport: "stdio", ...server() },
    ],
    pid,
    1,
  ]);
});

test("[M30] a permission that is taken back ends the server and its calls at once, and nothing starts it again", async () => {
  const log = inWorkspace("log");
  await writeServers(agent.folder, { one: server() });
  await allow(hashOfEntry("one", server()));
  const pid = await pidOf("one");
  const call = refusal(agent.connection.callMcpTool({ name: "one__slow", arguments: { log } }));
  await until(() => linesOf(log).includes("called"), "the call has begun");
  const answer = await allow();
  expect([statuses(answer), (await call).status]).toEqual([{ one: "pending" }, 502]);
  await until(() => !isAlive(pid), "the server is gone");
  expect((await refusal(agent.connection.callMcpTool({ name: "one__where", arguments: {} }))).status).toBe(
    403,
  );
  expect(started().length).toBe(1);
});

test("[M30] an older permission that arrives late changes nothing", async () => {
  await writeServers(agent.folder, { one: server() });
  const late = permissionsFor(hashOfEntry("one", server()));
  await allow();
  const answer = await agent.connection.mcpTools({ permissions: late });
  expect([statuses(answer), started()]).toEqual([{ one: "pending" }, []]);
});

test("[M31] an entry that is too long to be shown is refused, whatever is allowed", async () => {
  const long = testServer({}, "x".repeat(1_000_000));
  await writeServers(agent.folder, { one: long, ["n".repeat(20_000)]: server() });
  const problem =
    "An entry has at most 16384 characters, so that it can be shown in full before it is allowed.";
  const answer = await agent.connection.mcpTools({
    permissions: { ...EVERYTHING, revision: (revision += 1) },
  });
  expect([statuses(answer), answer.requests, started()]).toEqual([
    { one: problem, ["n".repeat(100)]: problem },
    [],
    [],
  ]);
});

test("[M31] of two entries of one name the last counts, as it is reported; a linked file says where it is", async () => {
  const elsewhere = await makeFolder();
  const text = `{"mcpServers": {"one": {"command": "harmless"}, "one": ${JSON.stringify(server())}}}`;
  await writeFile(join(elsewhere, "mine.json"), text);
  const linked = await startTestAgent();
  await symlink(join(elsewhere, "mine.json"), join(linked.folder, ".mcp.json"));
  const { requests } = await linked.connection.mcpTools();
  await linked.close();
  expect(requests).toEqual([
    {
      configFile: join(linked.folder, ".mcp.json"),
      linkTarget: join(elsewhere, "mine.json"),
      entry: { name: "one", transport: "stdio", ...server() },
    },
  ]);
});
