// A real agent for tests: its own process, reached over loopback by the real client, in a folder of its own.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import type { AgentConnection } from "../../src/workspaces/agent-connection.js";
import { startLocalAgent, type LocalAgent } from "../../src/workspaces/provisioners/local.js";

const root = resolve(import.meta.dirname, "../..");

/** Starts the agent from its source. */
export const agentCommand = [
  process.execPath,
  "--import",
  join(root, "node_modules/@oxc-node/core/register.mjs"),
  join(root, "src/agent/main.ts"),
];

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
  const local = startLocalAgent({
    directory: folder,
    command: agentCommand,
    environment: { ...process.env, ...environment },
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
