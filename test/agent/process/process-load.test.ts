// The agent under load: much output, many processes, and what remains afterwards.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFifo } from "../files/fifo.js";
import {
  agentPid,
  endGently,
  finish,
  openAgent,
  pollUntil,
  processesWith,
  type RunningAgent,
} from "./process-agent.js";
import { agentCommand } from "../support.js";
import { scaled } from "../../support/scale.js";

const BYTES = scaled(1024 ** 3);
const QUARTER = Math.floor(BYTES / 4);
const COMMANDS = scaled(500);
/** An idle agent takes about 80 MiB. */
const MAX_AGENT_BYTES = 256 * 1024 ** 2;

let agent: RunningAgent;
let pid: number;
let mark: string;

beforeEach(async () => {
  const value = randomUUID();
  mark = `TEST_MARK=${value}`;
  agent = await openAgent({
    environment: { TEST_MARK: value, PARLEY_AGENT_MAX_PROCESSES_PER_CHAT: "0" },
  });
  pid = await agentPid(agent.connection);
});
afterEach(() => agent.stop());

/** The agent's peak memory, in bytes. */
async function peakMemory(): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

test.each([
  ["zeroes without a newline", `head -c ${BYTES} /dev/zero`],
  ["text in lines", `yes 'a line of some length, as builds print them by the million' | head -c ${BYTES}`],
  ["random bytes", `head -c ${QUARTER} /dev/urandom; head -c ${BYTES - QUARTER} /dev/zero`],
  ["both streams at once", `head -c ${QUARTER} /dev/zero >&2 & head -c ${BYTES - QUARTER} /dev/zero; wait`],
])("[P28] a gigabyte of output takes no more memory than a kilobyte: %s", async (_, command) => {
  const { truncation, output, exitCode } = await finish(agent.connection, command);
  expect([exitCode, truncation?.originalBytes]).toEqual([0, BYTES]);
  expect(Buffer.byteLength(output)).toBeLessThan(100 * 1024);
  expect(await peakMemory()).toBeLessThan(MAX_AGENT_BYTES);
});

test("[P27] [P28] hundreds of commands run at once, and none outlives the agent", async () => {
  const chat = agent.connection.forChat("chat-crowd");
  const started = await Promise.all(
    Array.from({ length: COMMANDS }, (_, number) =>
      chat.startProcess({ command: `echo ${number}; sleep 600 | cat`, background: true }),
    ),
  );
  const running = await pollUntil(
    () => processesWith(mark),
    (found) => found.filter((line) => line.includes(" sleep 600 ")).length >= COMMANDS,
  );
  const outputs = await pollUntil(
    () => Promise.all(started.map(({ id }) => chat.processOutput({ id }))),
    (snapshots) => snapshots.every(({ output }) => output !== ""),
  );
  expect((await chat.listProcesses()).total).toBe(COMMANDS);
  expect(outputs).toEqual(started.map((_, number) => ({ output: `${number}\n`, running: true })));
  expect(running.length).toBeGreaterThan(2 * COMMANDS);
  expect(await peakMemory()).toBeLessThan(MAX_AGENT_BYTES);

  const waits = started.slice(0, scaled(100)).map(({ id }) => chat.processOutput({ id, wait: true }));
  await endGently(agent, pid);
  expect(await Promise.all(waits)).toEqual(
    waits.map((_, number) => ({ output: `${number}\n`, running: false, exitCode: -1, signal: "SIGTERM" })),
  );
  expect(await processesWith(mark)).toEqual([]);
});

test("[P28] hundreds of noisy commands, one after the other, leave no memory and no open files behind", async () => {
  const chat = agent.connection.forChat("chat-noise");
  const openFiles = async () => (await finish(chat, "ls /proc/$PPID/fd | wc -l")).output;
  const round = async (count: number) => {
    for (let done = 0; done < count; done += 20) {
      await Promise.all(
        Array.from({ length: 20 }, () => finish(chat, "head -c 100000 /dev/zero | tr '\\0' x")),
      );
    }
  };
  await round(scaled(200));
  const before = Number(await openFiles());
  await round(scaled(400));
  const after = Number(await openFiles());
  // Sixteen for a waiting batch of pipes, twenty for keep-alive connections.
  expect(after - before).toBeLessThanOrEqual(40);
  expect(await peakMemory()).toBeLessThan(MAX_AGENT_BYTES);
});

test("[P27] a pipeline whose members ignore SIGTERM does not outlive the agent either", async () => {
  const fifo = makeFifo(join(agent.folder, "members"));
  const stubborn = `trap "" TERM; exec 3>>members; while :; do sleep 600; done`;
  await agent.connection.startProcess({ command: `(${stubborn}) | (${stubborn}) | cat` });
  await fifo.opened;
  await endGently(agent, pid);
  await fifo.closed;
  expect(await processesWith(mark)).toEqual([]);
});

test("[P26] an agent without free file descriptors reports that, and continues when there are some again", async () => {
  const command = ["sh", "-c", 'ulimit -n 160; exec "$@"', "sh", ...agentCommand];
  const limited = await openAgent({ command });
  const start = () =>
    limited.connection.startProcess({ command: "exec sleep 600", idempotencyKey: randomUUID() });
  let refusal: unknown;
  for (let starts = 0; starts < 200 && refusal === undefined; starts += 1) {
    refusal = await start().then(
      () => undefined,
      (error: unknown) => error,
    );
  }
  const { processes } = await limited.connection.listProcesses();
  for (const { id } of processes) {
    await limited.connection.signalProcess(id, "kill");
    await limited.connection.processOutput({ id, wait: true });
  }
  const { output } = await finish(limited.connection, "echo alive");
  await limited.stop();
  expect([refusal, output]).toEqual([
    expect.objectContaining({
      status: 500,
      message: "The command could not be started.",
      facts: { detail: "spawn sh EMFILE" },
    }),
    "alive\n",
  ]);
});
