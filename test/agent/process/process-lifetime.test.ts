import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentUnreachable } from "../../../src/workspaces/agent-client/agent-connection.js";
import { makeFifo } from "../files/fifo.js";
import {
  agentPid,
  endGently,
  finish,
  openAgent,
  pollUntil,
  processesWith,
  refusalOf,
  type RunningAgent,
} from "./process-agent.js";
import { testProgram } from "../../support/build.js";

/** Termination takes the grace period of five seconds, and much longer on a busy machine. */

/** The agent's program with a clock that jumps five minutes ahead at SIGUSR2. */
const clockedCommand = [process.execPath, testProgram("clocked-agent")];

describe("as time goes by", () => {
  let agent: RunningAgent;
  let pid: number;

  beforeAll(async () => {
    agent = await openAgent({ command: clockedCommand });
    pid = await agentPid(agent.connection);
  });
  afterAll(() => agent.stop());

  /** Five minutes and a second. */
  const jump = () => process.kill(pid, "SIGUSR2");

  test("[P20] a process that ended is retained for five minutes, one with a key for an hour", async () => {
    const chat = agent.connection.forChat("chat-kept");
    const plain = await chat.startProcess({ command: "echo plain" });
    const wanted = { command: "echo keyed", idempotencyKey: "key" };
    const keyed = await chat.startProcess(wanted);
    for (const { id } of [plain, keyed]) await chat.processOutput({ id, wait: true });
    const listed = async () => (await chat.listProcesses()).processes.map(({ id }) => id);
    expect(await listed()).toEqual([keyed.id, plain.id]);

    jump();
    expect(await pollUntil(listed, ({ length }) => length < 2)).toEqual([keyed.id]);
    expect(await refusalOf(chat.processOutput({ id: plain.id }))).toMatchObject({ status: 404 });
    expect(await chat.startProcess(wanted)).toEqual({ id: keyed.id, started: false, attached: true });
    expect((await chat.processOutput({ id: keyed.id })).output).toBe("keyed\n");

    const later = async () => {
      jump();
      return listed();
    };
    expect(await pollUntil(later, ({ length }) => length === 0)).toEqual([]);
    expect((await chat.startProcess(wanted)).started).toBe(true);
  });

  test("[P20] a process that runs is never forgotten", async () => {
    const chat = agent.connection.forChat("chat-running");
    const { id } = await chat.startProcess({ command: "exec sleep 600" });
    for (let jumps = 0; jumps < 15; jumps += 1) {
      jump();
      expect((await chat.listProcesses()).total).toBe(1);
    }
    await chat.signalProcess(id, "kill");
    expect(await chat.processOutput({ id, wait: true })).toMatchObject({ running: false });
  });

  test("[P15] a wait ends after five minutes, however long it was meant to be", async () => {
    const { id } = await agent.connection.startProcess({ command: "exec sleep 600" });
    let answer: unknown;
    const waiting = fetch(new URL(`/v1/processes/${id}/output?wait=true&timeoutMs=999999999`, agent.url), {
      headers: { authorization: `Bearer ${agent.token}` },
    }).then(async (response) => {
      answer = await response.json();
    });
    await pollUntil(
      () => {
        jump();
        return Promise.resolve(answer);
      },
      (value) => value !== undefined,
    );
    await waiting;
    expect(answer).toEqual({ output: "", running: true });
    await agent.connection.signalProcess(id, "kill");
  });
});

test("[P21] at most a thousand processes are retained: the oldest that ended are evicted, running ones are not", async () => {
  const agent = await openAgent({ environment: { PARLEY_AGENT_MAX_PROCESSES_PER_CHAT: "0" } });
  const pid = await agentPid(agent.connection);
  const chat = agent.connection.forChat("chat-many");
  const { id: first } = await chat.startProcess({ command: "true" });
  await chat.processOutput({ id: first, wait: true });
  const starts = await Promise.all(
    Array.from({ length: 1_005 }, () =>
      chat.startProcess({ command: "exec sleep 600" }).then(
        () => "started",
        (error: unknown) => String(error),
      ),
    ),
  );
  const { total } = await chat.listProcesses();
  const forgotten = await refusalOf(chat.processOutput({ id: first }));
  await endGently(agent, pid);
  const count = (outcome: string) => starts.filter((start) => start === outcome).length;
  const refusal = "AgentError: 1000 processes are running already; end some of them first.";
  expect([count("started"), count(refusal), total, forgotten.status]).toEqual([1_000, 5, 1_000, 404]);
});

describe("an agent that is stopped", () => {
  test("[P27] refuses new starts, answers those who wait, and ends what does not listen", async () => {
    const agent = await openAgent();
    const stubborn = makeFifo(join(agent.folder, "stubborn"));
    const { id } = await agent.connection.startProcess({
      command: `trap "" TERM; exec 3>stubborn; while :; do sleep 600; done`,
    });
    await stubborn.opened;
    const wait = agent.connection.processOutput({ id, wait: true });
    const stopping = endGently(agent, await agentPid(agent.connection));
    const start = () =>
      agent.connection.startProcess({ command: "exec sleep 600" }).then(
        () => "started",
        (error: unknown) => error,
      );
    const refusal = await pollUntil(start, (outcome) => outcome !== "started");
    expect(refusal).toMatchObject({ status: 503, message: "The workspace agent is shutting down." });
    expect(await wait).toEqual({ output: "", running: false, exitCode: -1, signal: "SIGKILL" });
    await Promise.all([stubborn.closed, stopping]);
  });

  test("[P27] leaves none of its commands, children, daemons and racing starts behind", async () => {
    const mark = `TEST_MARK=${randomUUID()}`;
    const agent = await openAgent({ environment: { TEST_MARK: mark.slice(mark.indexOf("=") + 1) } });
    const { connection } = agent;
    const pid = await agentPid(connection);
    const commands = [
      "sleep 600 | cat",
      "sh -c 'sleep 600 & wait' & sleep 600",
      "setsid sleep 600 < /dev/null > /dev/null 2>&1 &",
      "setsid sh -c 'trap \"\" TERM; while :; do sleep 600; done' < /dev/null > /dev/null 2>&1 & echo",
      "nohup sleep 600 > /dev/null 2>&1 &",
      'trap "(sleep 600 &)" TERM; while :; do sleep 600 & wait; done',
      "setsid sleep 600 & exec sleep 600",
    ];
    for (const command of commands) await connection.startProcess({ command });
    const alive = await pollUntil(
      () => processesWith(mark),
      (found) => found.filter((line) => line.includes("sleep 600")).length >= 9,
    );
    const racing = Array.from({ length: 50 }, () =>
      connection
        .startProcess({ command: "setsid sleep 600 & exec sleep 600" })
        .catch((error: unknown) => error),
    );
    await endGently(agent, pid);
    const outcomes = await Promise.all(racing);
    const refused = outcomes.filter((outcome) => outcome instanceof Error);
    expect(alive.length).toBeGreaterThanOrEqual(9);
    expect(
      refused.filter((error) => error instanceof AgentUnreachable || /shutting down/.test(String(error))),
    ).toEqual(refused);
    expect(await processesWith(mark)).toEqual([]);
  });

  test("[P27] answers a command that had ended before", async () => {
    const agent = await openAgent();
    expect((await finish(agent.connection, "echo before")).output).toBe("before\n");
    await agent.stop();
    expect((await agent.ended).reason).toBe("exit code 0");
  });
});
