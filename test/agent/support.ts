// A real agent for tests: a process with its own folder, reached over loopback by the real client.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import type { AgentConnection } from "../../src/workspaces/agent-client/agent-connection.js";
import { AGENT_PROGRAM } from "../support/build.js";
import { startLocalAgent, type LocalAgent } from "../../src/workspaces/provisioners/local.js";

/** Starts the agent as users start it. */
export const agentCommand = [process.execPath, AGENT_PROGRAM];

export async function makeFolder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), "parley-agent-")));
}

export type TestAgent = {
  folder: string;
  local: LocalAgent;
  connection: AgentConnection;
  close(): Promise<void>;
};

export async function startTestAgent(environment: Record<string, string> = {}): Promise<TestAgent> {
  const folder = await makeFolder();
  const commandVariables = Object.keys(environment).filter((name) => !name.startsWith("PARLEY_"));
  const local = startLocalAgent({
    directory: folder,
    command: agentCommand,
    environment: { ...process.env, ...environment },
    commandVariables,
    log: createLog("silent"),
    clock: systemClock,
  });
  const close = async () => {
    await local.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { folder, local, connection: await local.connection(), close };
  } catch (error) {
    await close();
    throw error;
  }
}
