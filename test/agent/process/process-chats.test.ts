import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { finish, openAgent, refusalOf, type RunningAgent } from "./process-agent.js";

let agent: RunningAgent;
let connection: AgentConnection;

beforeAll(async () => {
  agent = await openAgent();
  connection = agent.connection;
});
afterAll(() => agent.stop());

describe("two chats", () => {
  test("[P17] do not see each other's processes", async () => {
    const [first, second] = [connection.forChat("chat-1"), connection.forChat("chat-2", ["chat-1"])];
    const { id } = await first.startProcess({ command: "exec sleep 600" });
    const unknown = { status: 404, message: `Process ${id} was not found.`, field: "id" };

    expect((await first.listProcesses()).processes.map((process) => process.id)).toEqual([id]);
    expect(await second.listProcesses()).toEqual({ processes: [], total: 0 });
    expect([
      await refusalOf(second.processOutput({ id })),
      await refusalOf(second.processOutput({ id, wait: true })),
      await refusalOf(second.signalProcess(id, "kill")),
    ]).toEqual([unknown, unknown, unknown]);
    const none = "00000000-0000-4000-8000-000000000000";
    expect(await refusalOf(second.processOutput({ id: none }))).toEqual({
      ...unknown,
      message: `Process ${none} was not found.`,
    });
    await first.signalProcess(id, "kill");
  });

  test("[P17] include those started without a chat, and a request without a chat sees everything", async () => {
    const { id: own } = await connection.startProcess({ command: "exec sleep 600" });
    const chat = connection.forChat("chat-3");
    const { id: theirs } = await chat.startProcess({ command: "exec sleep 600" });

    expect((await chat.processOutput({ id: own })).running).toBe(true);
    expect((await chat.listProcesses()).processes.map(({ id }) => id)).toEqual([theirs]);
    expect((await connection.listProcesses()).processes.map(({ id }) => id).slice(0, 2)).toEqual([
      theirs,
      own,
    ]);
    await connection.signalProcess(theirs, "kill");
    await chat.signalProcess(own, "kill");
  });

  test.each([
    ["parley-chat-id", "not a chat"],
    ["parley-chat-id", "x".repeat(200)],
    ["parley-ancestor-chat-ids", "chat-1"],
    ["parley-ancestor-chat-ids", '["fine", "not fine"]'],
  ])("[P18] are not confused by the header %s: %s", async (name, value) => {
    const response = await fetch(new URL("/v1/processes", agent.url), {
      headers: { authorization: `Bearer ${agent.token}`, [name]: value },
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      { message: `The header ${name} is not valid.`, field: name },
    ]);
  });
});

describe("the list of processes", () => {
  test("[P19] [P3] shows those running first, then the newest, at most ten", async () => {
    const chat = connection.forChat("chat-list");
    const { id: running } = await chat.startProcess({ command: "exec sleep 600", background: true });
    const ended: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const { id } = await chat.startProcess({ command: `exit ${count}` });
      await chat.processOutput({ id, wait: true });
      ended.push(id);
    }
    const { processes, total } = await chat.listProcesses();
    expect(total).toBe(13);
    expect(processes.map(({ id }) => id)).toEqual([running, ...ended.reverse().slice(0, 9)]);
    expect(processes.slice(0, 2)).toEqual([
      {
        id: running,
        command: "exec sleep 600",
        workdir: agent.folder,
        background: true,
        running: true,
        startedAt: expect.stringMatching(/Z$/),
      },
      {
        id: ended[0],
        command: "exit 11",
        workdir: agent.folder,
        background: false,
        running: false,
        exitCode: 11,
        startedAt: expect.stringMatching(/Z$/),
        exitedAt: expect.stringMatching(/Z$/),
      },
    ]);
    await chat.signalProcess(running, "kill");
  });

  test("[P19] shows the beginning of a long command", async () => {
    const chat = connection.forChat("chat-long");
    expect((await finish(chat, `echo ok; : ${"€".repeat(40_000)}`)).output).toBe("ok\n");
    const [shown] = (await chat.listProcesses()).processes;
    expect(shown?.command).toBe(`echo ok; : ${"€".repeat(1_361)}`);
  });
});

describe("a start with an idempotency key", () => {
  const request = { command: "echo once >> keyed; cat keyed", idempotencyKey: "chat:message:call" };

  test("[P22] runs once, however often it is requested, also concurrently", async () => {
    const chat = connection.forChat("chat-key");
    const answers = await Promise.all(Array.from({ length: 10 }, () => chat.startProcess(request)));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.map(({ started, attached }) => `${started} ${attached}`).sort()).toEqual([
      ...Array.from({ length: 9 }, () => "false true"),
      "true false",
    ]);
    const id = answers[0]?.id ?? "";
    const first = await chat.processOutput({ id, wait: true });
    expect(await chat.startProcess(request)).toEqual({ id, started: false, attached: true });
    expect([first, await chat.processOutput({ id })].map(({ output }) => output)).toEqual([
      "once\n",
      "once\n",
    ]);
  });

  test("[P22] takes the same variables in another order for the same", async () => {
    const chat = connection.forChat("chat-key-order");
    const wanted = { command: "true", idempotencyKey: "key" };
    const { id } = await chat.startProcess({ ...wanted, env: { A: "1", B: "2" } });
    expect(await chat.startProcess({ ...wanted, env: { B: "2", A: "1" } })).toEqual({
      id,
      started: false,
      attached: true,
    });
  });

  test.each([
    ["command", { command: "false" }],
    ["directory", { workdir: "/" }],
    ["environment", { env: { A: "1" } }],
    ["place", { background: true }],
  ])("[P23] is a conflict with another %s", async (name, change) => {
    const chat = connection.forChat(`chat-key-${name}`);
    const wanted = { command: "true", idempotencyKey: "key" };
    await chat.startProcess(wanted);
    expect(await refusalOf(chat.startProcess({ ...wanted, ...change }))).toEqual({
      status: 409,
      message: "This idempotency key already started a different command.",
      field: "idempotencyKey",
    });
  });

  test("[P23] is its own in another chat, and without a chat", async () => {
    const wanted = { command: "true", idempotencyKey: "key-of-many" };
    const answers = [
      await connection.forChat("chat-key-a").startProcess(wanted),
      await connection.forChat("chat-key-b").startProcess(wanted),
      await connection.startProcess(wanted),
    ];
    expect(answers.map(({ started }) => started)).toEqual([true, true, true]);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(3);
  });

  test("[P23] can be retried when it could not start, also by concurrent requests", async () => {
    const chat = connection.forChat("chat-key-4");
    const wanted = { command: "pwd", workdir: "later", idempotencyKey: "key" };
    const refusals = await Promise.all([
      refusalOf(chat.startProcess(wanted)),
      refusalOf(chat.startProcess(wanted)),
    ]);
    expect(refusals.map(({ field }) => field)).toEqual(["workdir", "workdir"]);
    const later = join(agent.folder, "later");
    await mkdir(later);
    expect((await chat.startProcess(wanted)).started).toBe(true);
    await rmdir(later);
  });
});
