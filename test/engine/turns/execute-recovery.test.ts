// The execute tool when the connection to the workspace breaks while a command runs.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import { executeTool } from "../../../src/engine/tools/processes/execute.js";
import { processOutputTool } from "../../../src/engine/tools/processes/process-output.js";
import type { ToolContext } from "../../../src/engine/tools/tool.js";
import { connectAgent, type AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { startTestAgent, type TestAgent } from "../../agent/support.js";
import { noAgents } from "../../support/workspaces/no-agents.js";

let agent: TestAgent;
let chat: AgentConnection;

beforeAll(async () => {
  agent = await startTestAgent();
  chat = agent.connection.forChat("chat-1");
});
afterAll(() => agent.close());

const DURATION = expect.any(Number) as unknown as number;

let calls = 0;
/** A tool requests the workspace each time it needs a new connection. */
function contextWith(workspace: ToolContext["workspace"]): ToolContext {
  calls += 1;
  return {
    workspace,
    output: () => undefined,
    agents: noAgents,
    idempotencyKey: `call-${calls}`,
    signal: new AbortController().signal,
  };
}

async function execute(args: JsonObject, context: ToolContext): Promise<JsonObject> {
  const { result, isError } = await executeTool.run(args, context);
  if (isError) throw new Error(JSON.stringify(result));
  return result as JsonObject;
}

describe("when the wait for a command breaks, execute", () => {
  const away = connectAgent({ url: "http://127.0.0.1:1", token: "x" });

  function breaking(): AgentConnection {
    const waitThenBreak: AgentConnection["processOutput"] = async (request) => {
      await chat.processOutput(request);
      return away.processOutput(request);
    };
    return { ...chat, processOutput: waitThenBreak };
  }

  function contextOf(...connections: AgentConnection[]): ToolContext {
    return contextWith(() => Promise.resolve(connections.shift() ?? away));
  }

  test("returns the result that a second request finds", async () => {
    expect(await execute({ command: "echo it; exit 4" }, contextOf(breaking(), chat))).toEqual({
      success: false,
      output: "it\n",
      exit_code: 4,
      wall_duration_ms: DURATION,
    });
  });

  /** Requests that wait for it break while the process continues; other requests are answered. */
  const breakingAtOnce = (): AgentConnection => ({
    ...chat,
    processOutput: (request) => (request.wait ? away : chat).processOutput(request),
  });

  test("waits again while there is time", async () => {
    const command = "while [ ! -e go-on ]; do sleep 0.1; done; echo it";
    let requestCount = 0;
    const workspace = async () => {
      requestCount += 1;
      if (requestCount < 3) return breakingAtOnce();
      await writeFile(join(agent.folder, "go-on"), "");
      return chat;
    };
    expect(await execute({ command, timeout: "1h" }, contextWith(workspace))).toEqual({
      success: true,
      output: "it\n",
      exit_code: 0,
      wall_duration_ms: DURATION,
    });
  });

  test("reports why it stops waiting, and how to continue, when it breaks each time", async () => {
    const workspace = () => Promise.resolve(breakingAtOnce());
    const args = { command: "exec sleep 600", timeout: "1h" };
    const result = await execute(args, contextWith(workspace));
    const id = result.background_process_id as string;
    expect(result).toEqual({
      success: false,
      exit_code: -1,
      wall_duration_ms: DURATION,
      error:
        "Waiting for the command failed: The workspace agent cannot be reached: bad port. It is still running. Use process_output with this process id to wait for it, or process_signal to stop it.",
      background_process_id: id,
    });
    expect(await processOutputTool.run({ process_id: id }, contextWith(workspace))).toEqual({
      result: { success: true, note: expect.stringContaining("still running") as string },
      isError: false,
    });
    await chat.signalProcess(id, "kill");
  });

  test("reports so when the agent does not answer", async () => {
    expect(await execute({ command: "true" }, contextOf(breaking(), away))).toEqual({
      success: false,
      exit_code: -1,
      wall_duration_ms: DURATION,
      error:
        "The workspace agent cannot be reached: bad port. The command may still be running; use process_output with this process id to find out.",
      background_process_id: expect.any(String),
    });
  });

  test("reports a lost process when a new agent does not know it", async () => {
    const otherChat = agent.connection.forChat("another-chat");
    expect(await execute({ command: "true" }, contextOf(breaking(), otherChat))).toEqual({
      success: false,
      exit_code: -1,
      wall_duration_ms: DURATION,
      error: "The process was lost; its outcome is unknown.",
    });
  });
});
