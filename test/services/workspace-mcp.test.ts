// A workspace's own MCP tools in turns, from a real agent with a real MCP server.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { WorkspaceTools } from "../../src/engine/mcp/workspace-tools.js";
import type { Tool, ToolContext } from "../../src/engine/tools/tool.js";
import { createLog } from "../../src/lib/log.js";
import {
  AgentUnreachable,
  CONTEXT_TIMEOUT_MS,
  type AgentConnection,
} from "../../src/workspaces/agent-client/agent-connection.js";
import { ManualClock } from "../agent/manual-clock.js";
import { EVERYTHING, testServer, until, writeServers } from "../agent/mcp/mcp-support.js";
import { startTestAgent, type TestAgent } from "../agent/support.js";
import { noAgents } from "../support/workspaces/no-agents.js";

let agent: TestAgent;
let clock: ManualClock;
let tools: WorkspaceTools;
beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(() => agent.close());
beforeEach(() => {
  clock = new ManualClock();
  tools = new WorkspaceTools({
    listServers: (_, connection) => connection.mcpTools({ permissions: EVERYTHING }),
    ...{ clock, log: createLog("silent") },
  });
});
afterEach(async () => {
  await tools.close();
  await rm(join(agent.folder, ".mcp.json"), { force: true });
});

const connect = () => agent.local.connection();
const away = () => Promise.reject(new AgentUnreachable("The workspace agent cannot be reached."));
const list = (connection: () => Promise<AgentConnection> = connect) => tools.list("here", connection);
const names = (listed: readonly Tool[]) => listed.map(({ name }) => name);

/** Configures the server in the workspace and waits until its tools are listed. */
async function serve(name: string, toolNames: string): Promise<void> {
  await writeServers(agent.folder, { [name]: testServer({ TOOLS: toolNames }) });
  const isReady = async () =>
    (await agent.connection.mcpTools({ permissions: EVERYTHING })).servers.every(
      ({ status }) => status === "ready",
    );
  await until(isReady, "the server is ready");
}

async function run(tool: Tool | undefined, args: object = {}) {
  const signal = new AbortController().signal;
  const context: ToolContext = {
    agents: noAgents,
    workspace: connect,
    output: () => undefined,
    idempotencyKey: "x",
    signal,
  };
  return tool?.run({ ...args }, context);
}

test("tools are sorted, have names that every vendor accepts, and call their own server", async () => {
  await serve("my server", "refuse,progress");
  const listed = await list();
  expect(listed.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))).toEqual(
    ["progress", "refuse"].map((name) => ({
      name: `my_server__${name}`,
      description: "A tool of the workspace's server my server.",
      inputSchema: { type: "object", properties: {} },
    })),
  );
  expect([await run(listed[0], { odd: [1] }), await run(listed[1])]).toEqual([
    { result: "told", isError: false },
    { result: { error: "I would rather not." }, isError: true },
  ]);
});

test("unchanged tools keep their identity; many turns, at once or within two seconds, list once", async () => {
  await serve("one", "progress");
  let dials = 0;
  const counted = () => {
    dials += 1;
    return connect();
  };
  const first = await list();
  const all = await Promise.all([list(counted), list(counted), list(counted)]);
  expect([all.every((listed) => listed === first), dials]).toEqual([true, 1]);
  await serve("one", "progress,refuse");
  expect(await list()).toBe(first);
  clock.advance(2_000);
  expect(names(await list())).toEqual(["one__progress", "one__refuse"]);
});

test("an unreachable workspace has no tools, or the last known ones, whose calls say why", async () => {
  await serve("one", "progress");
  expect(await list(away)).toEqual([]);
  const [tool] = await list();
  expect(names(await list(away))).toEqual(["one__progress"]);
  await rm(join(agent.folder, ".mcp.json"));
  await agent.connection.mcpTools();
  expect(await run(tool)).toEqual({
    result: { error: 'There is no MCP server named "one".' },
    isError: true,
  });
});

test("a turn waits five seconds for the list; a later answer is there for the next turn", async () => {
  await serve("one", "progress");
  let arrive: (connection: AgentConnection) => void = () => undefined;
  const slow = () => new Promise<AgentConnection>((resolve) => (arrive = resolve));
  const waiting = clock.nextTimer(CONTEXT_TIMEOUT_MS);
  const first = list(slow);
  await waiting;
  clock.advance(CONTEXT_TIMEOUT_MS);
  expect(await first).toEqual([]);
  const second = list(away);
  arrive(await connect());
  expect(names(await second)).toEqual(["one__progress"]);
});

test("at most ninety tools are listed", async () => {
  await serve("one", Array.from({ length: 120 }, (_, index) => `tool-${100 + index}`).join(","));
  expect((await list()).length).toBe(90);
});
