// A command that was started without an answer, because the connection broke in between.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ToolOutcome } from "../../../src/domain/chats/tool-outcome.js";
import { executeTool } from "../../../src/engine/tools/processes/execute.js";
import {
  AgentUnreachable,
  type AgentConnection,
} from "../../../src/workspaces/agent-client/agent-connection.js";
import { startTestAgent, type TestAgent } from "../../agent/support.js";
import { noAgents } from "../../support/workspaces/no-agents.js";

let agent: TestAgent;
let runs: string;
beforeAll(async () => {
  agent = await startTestAgent();
  runs = join(agent.folder, "runs");
});
afterAll(() => agent.close());
beforeEach(() => writeFile(runs, ""));

/** The real connection, which breaks when a start was done. */
function breaking(): AgentConnection {
  const { connection } = agent;
  return {
    ...connection,
    startProcess: async (request, options) => {
      await connection.startProcess(request, options);
      throw new AgentUnreachable("The connection was lost.");
    },
  };
}

function run(idempotencyKey: string, ...connections: AgentConnection[]): Promise<ToolOutcome> {
  return executeTool.run(
    { command: "echo run >> runs; cat runs" },
    {
      workspace: () => Promise.resolve(connections.shift() ?? agent.connection),
      output: () => undefined,
      agents: noAgents,
      idempotencyKey,
      signal: new AbortController().signal,
    },
  );
}

test("the next connection to the same agent finds the command, which runs once", async () => {
  expect(await run("found again", breaking())).toMatchObject({
    isError: false,
    result: { success: true, output: "run\n" },
  });
  expect(await readFile(runs, "utf8")).toBe("run\n");
});

test("another agent, which cannot know whether the command ran, is not asked to run it", async () => {
  const other = { ...agent.connection, instance: "another start of the agent" };
  expect(await run("asked of another", breaking(), other)).toMatchObject({
    result: { success: false, error: "The connection was lost." },
  });
});

test("a connection that breaks each time is not retried forever", async () => {
  expect(await run("breaks again", breaking(), breaking(), agent.connection)).toMatchObject({
    result: { success: false, error: "The connection was lost." },
  });
});
