// A real agent with a known address, for tests that send raw HTTP, end it, or start it in a special way.
import { readdir, readFile, rm } from "node:fs/promises";
import { systemClock } from "../../../src/lib/clock.js";
import {
  connectAgent,
  AgentError,
  type AgentConnection,
} from "../../../src/workspaces/agent-client/agent-connection.js";
import { spawnAgent, type AgentExit } from "../../../src/workspaces/provisioners/agent-process.js";
import { agentCommand, makeFolder } from "../support.js";

/** Bound of every wait for a condition; far beyond what a busy machine needs. */
const WAIT_MS = 30_000;
const POLL_MS = 25;

export type RunningAgent = {
  folder: string;
  url: string;
  token: string;
  connection: AgentConnection;
  ended: Promise<AgentExit>;
  /** Asks the agent to end, waits for it, and removes its folder. */
  stop(): Promise<void>;
};

/** `command` runs the agent's program instead of the usual one. */
export async function openAgent(
  options: { environment?: Record<string, string>; command?: readonly string[]; logLevel?: string } = {},
): Promise<RunningAgent> {
  const folder = await makeFolder();
  const named = Object.keys(options.environment ?? {}).filter((name) => !name.startsWith("PARLEY_"));
  const agent = spawnAgent({
    command: options.command ?? agentCommand,
    directory: folder,
    environment: { ...process.env, PARLEY_COMMAND_ENV: named.join(","), ...options.environment },
    logLevel: options.logLevel ?? "error",
    clock: systemClock,
  });
  const stop = async () => {
    await agent.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { url, token } = await agent.listening;
    return { folder, url, token, connection: connectAgent({ url, token }), ended: agent.ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Commands are children of the agent. */
export async function agentPid(connection: AgentConnection): Promise<number> {
  const { id } = await connection.startProcess({ command: "echo $PPID" });
  return Number((await connection.processOutput({ id, wait: true })).output);
}

/** Ends the agent without a time limit: on a busy machine it may take long. */
export async function endGently(agent: RunningAgent, pid: number): Promise<void> {
  process.kill(pid, "SIGTERM");
  await agent.ended;
  await agent.stop();
}

/** Runs a command to its end. */
export async function finish(
  connection: AgentConnection,
  command: string,
  more: { workdir?: string; env?: Record<string, string> } = {},
) {
  const { id } = await connection.startProcess({ command, ...more });
  return connection.processOutput({ id, wait: true });
}

/** The refusal that `promise` must be. */
export async function refusalOf(promise: Promise<unknown>) {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof AgentError)) throw new Error("It was not refused.", { cause: error });
  return { status: error.status, message: error.message, field: error.facts.field };
}

/** Polls until `isDone`. Returns the last answer in any case, so that the test's own expectation shows what is wrong. */
export async function pollUntil<Value>(
  ask: () => Promise<Value>,
  isDone: (value: Value) => boolean,
): Promise<Value> {
  const deadlineMs = Date.now() + WAIT_MS;
  for (;;) {
    const value = await ask();
    if (isDone(value) || Date.now() > deadlineMs) return value;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Live processes of this machine whose environment contains `NAME=value`, with their command lines. */
export async function processesWith(variable: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (!environment.split("\0").includes(variable)) return [];
      return [
        `${pid} ${(await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ")}`,
      ];
    }),
  );
  return found.flat();
}
