import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import {
  AgentUnreachable,
  type AgentConnection,
} from "../../src/workspaces/agent-client/agent-connection.js";
import { AGENT_START_TIMEOUT_MS } from "../../src/workspaces/provisioners/agent-process.js";
import {
  CONNECTION_WAIT_MS,
  startLocalAgent,
  type LocalAgent,
} from "../../src/workspaces/provisioners/local.js";
import { makeFifo } from "./files/fifo.js";
import { ManualClock } from "./manual-clock.js";
import { testProgram } from "../support/build.js";
import { agentCommand, makeFolder } from "./support.js";

const FIRST_RESTART_DELAY_MS = 250;

let folder: string;
let local: LocalAgent | undefined;

beforeEach(async () => {
  folder = await makeFolder();
  local = undefined;
});
afterEach(async () => {
  await local?.close();
  await rm(folder, { recursive: true });
});

function start(command: readonly string[], clock = new ManualClock()): LocalAgent {
  const options = { directory: folder, command, environment: process.env, log: createLog("silent"), clock };
  local = startLocalAgent(options);
  return local;
}

async function agentPid(connection: AgentConnection): Promise<number> {
  const { id } = await connection.startProcess({ command: "echo $PPID" });
  return Number((await connection.processOutput({ id, wait: true })).output);
}

test("a killed agent is replaced by a new one", async () => {
  const clock = new ManualClock();
  const agent = start(agentCommand, clock);
  const first = await agent.connection();
  const { instanceId } = await first.health();

  const restart = clock.nextTimer(FIRST_RESTART_DELAY_MS);
  process.kill(await agentPid(first), "SIGKILL");
  await restart;
  expect(await first.health().catch((error: unknown) => error)).toBeInstanceOf(AgentUnreachable);

  clock.advance(FIRST_RESTART_DELAY_MS);
  const health = await (await agent.connection()).health();
  expect([health.workingDirectory, health.instanceId === instanceId]).toEqual([folder, false]);
});

test("an agent that cannot start is retried with growing delays, and callers get the reason", async () => {
  await writeFile(join(folder, "broken.cjs"), "console.error('no such thing'); process.exit(7);");
  const clock = new ManualClock();
  let retry = clock.nextTimer(FIRST_RESTART_DELAY_MS);
  const agent = start([process.execPath, join(folder, "broken.cjs")], clock);
  for (const delayMs of [FIRST_RESTART_DELAY_MS, 500, 1000]) {
    await retry;
    retry = clock.nextTimer(delayMs * 2);
    clock.advance(delayMs);
  }
  await retry;
  const refusal = agent.connection().catch((error: unknown) => error);
  clock.advance(CONNECTION_WAIT_MS);
  expect(await refusal).toMatchObject({
    name: "AgentUnreachable",
    message: "The workspace agent is not running; it is being restarted.",
    cause: { message: "The workspace agent exited (exit code 7) before it was ready. no such thing" },
  });
});

test("a program that does not exist is only a failure like any other", async () => {
  const clock = new ManualClock();
  const retry = clock.nextTimer(FIRST_RESTART_DELAY_MS);
  const agent = start([join(folder, "missing")], clock);
  await retry;
  await agent.close();
  expect(await agent.connection().catch((error: unknown) => error)).toMatchObject({
    name: "AgentUnreachable",
    message: "The workspace agent is shut down.",
  });
});

test("a silent agent is abandoned and ended", async () => {
  const clock = new ManualClock();
  const silent = makeFifo(join(folder, "silent"));
  const retry = clock.nextTimer(FIRST_RESTART_DELAY_MS);
  start(["sh", "-c", 'exec 4>"$0"; exec sleep 600', silent.path], clock);
  await silent.opened;
  clock.advance(AGENT_START_TIMEOUT_MS);
  await Promise.all([silent.closed, retry]);
});

test("closing ends the agent and all that it runs, also while it starts", async () => {
  const command = makeFifo(join(folder, "command"));
  const agent = startLocalAgent({
    directory: folder,
    command: agentCommand,
    environment: process.env,
    log: createLog("silent"),
    clock: systemClock,
  });
  const connection = await agent.connection();
  await connection.startProcess({ command: "exec 3>command; sleep 600 | cat" });
  await command.opened;
  await Promise.all([agent.close(), agent.close()]);
  await command.closed;
  expect(await connection.health().catch((error: unknown) => error)).toBeInstanceOf(AgentUnreachable);

  const early = start(agentCommand);
  const waiting = early.connection().catch((error: unknown) => error);
  await early.close();
  expect(await waiting).toMatchObject({ message: "The workspace agent is shut down." });
});

test("when the server is killed, its agent and the agent's commands end", async () => {
  const agentFifo = makeFifo(join(folder, "agent"));
  const commandFifo = makeFifo(join(folder, "command"));
  const server = spawn(
    process.execPath,
    [testProgram("supervisor"), folder, agentFifo.path, "exec 3>command; sleep 600 | cat"],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  await once(server.stdout, "data");
  await Promise.all([agentFifo.opened, commandFifo.opened]);
  server.kill("SIGKILL");
  await Promise.all([agentFifo.closed, commandFifo.closed]);
});
