import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError, type AgentConnection } from "../../src/workspaces/agent-connection.js";
import { makeFifo } from "./fifo.js";
import { startTestAgent, type TestAgent } from "./support.js";

let agent: TestAgent;
let connection: AgentConnection;

beforeAll(async () => {
  agent = await startTestAgent({ FROM_PARENT: "inherited", OVERRIDDEN: "inherited" });
  connection = agent.connection;
});
afterAll(() => agent.close());

async function finish(command: string, more: { workdir?: string; env?: Record<string, string> } = {}) {
  const { id } = await connection.startProcess({ command, ...more });
  return connection.processOutput({ id, wait: true });
}

async function refusal(promise: Promise<unknown>) {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof AgentError)) throw error;
  return { status: error.status, message: error.message, field: error.facts.field };
}

describe("a command", () => {
  test("gives its output and exit code", async () => {
    expect(await finish("echo out; echo err >&2; exit 3")).toEqual({
      output: "out\nerr\n",
      running: false,
      exitCode: 3,
    });
  });

  test("finds nothing on its input", async () => {
    expect(await finish("cat; echo end")).toEqual({ output: "end\n", running: false, exitCode: 0 });
  });

  test("finds the agent's environment, overridden by the request's, without the agent's token", async () => {
    const { output } = await finish('echo "$FROM_PARENT $OVERRIDDEN [$PARLEY_AGENT_TOKEN]"', {
      env: { OVERRIDDEN: "requested" },
    });
    expect(output).toBe("inherited requested []\n");
  });

  test("is told its chat, whatever the request says", async () => {
    const chat = connection.forChat("chat-env", ["parent", "grandparent"]);
    const { id } = await chat.startProcess({
      command: "echo $PARLEY_CHAT_ID",
      env: { PARLEY_CHAT_ID: "forged" },
    });
    expect((await chat.processOutput({ id, wait: true })).output).toBe("chat-env\n");
  });

  test("runs in the agent's directory, or in another, also a relative one", async () => {
    await mkdir(join(agent.folder, "below"), { recursive: true });
    const [own, absolute, relative] = [
      await finish("pwd"),
      await finish("pwd", { workdir: "/" }),
      await finish("pwd", { workdir: "below" }),
    ];
    expect([own.output, absolute.output, relative.output]).toEqual([
      `${agent.folder}\n`,
      "/\n",
      `${join(agent.folder, "below")}\n`,
    ]);
  });

  test("is refused in a directory that does not exist or is none", async () => {
    await writeFile(join(agent.folder, "plain"), "");
    expect(await refusal(finish("pwd", { workdir: "missing" }))).toEqual({
      status: 400,
      message: `The working directory ${join(agent.folder, "missing")} does not exist or cannot be reached.`,
      field: "workdir",
    });
    expect((await refusal(finish("pwd", { workdir: "plain" }))).message).toMatch(/is not a directory\.$/);
  });

  test.each([
    ["empty", " \n"],
    ["with a NUL", "echo \0"],
    ["longer than the system takes", `echo ${"x".repeat(128 * 1024)}`],
  ])("is refused when it is %s", async (_, command) => {
    expect(await refusal(finish(command))).toMatchObject({ status: 400, field: "command" });
  });

  test("may say ten megabytes, of which the beginning and the end are kept", async () => {
    const output = await finish(
      "echo begin; head -c 10485760 /dev/zero | tr '\\0' x | fold -w 99; echo; echo end",
    );
    expect(output.truncation?.originalBytes).toBeGreaterThan(10 * 1024 * 1024);
    expect([output.exitCode, output.output.slice(0, 6), output.output.slice(-4)]).toEqual([
      0,
      "begin\n",
      "end\n",
    ]);
    expect(output.output.length).toBeLessThan(33 * 1024);
  });

  test("that is not valid text is shown with replacement characters", async () => {
    expect((await finish("printf 'a\\377\\000b'")).output).toBe("a\uFFFD\0b");
  });
});

describe("waiting for a process", () => {
  test("ends with its exit, for everyone who waits", async () => {
    const gate = makeFifo(join(agent.folder, "gate"));
    const { id } = await connection.startProcess({ command: "exec 3>gate; sleep 600" });
    await gate.opened;
    const waits = Array.from({ length: 20 }, () => connection.processOutput({ id, wait: true }));
    await connection.signalProcess(id, "terminate");
    await gate.closed;
    const ended = { output: "", running: false, exitCode: -1, signal: "SIGTERM" };
    expect(await Promise.all(waits)).toEqual(waits.map(() => ended));
  });

  test("gives a snapshot when its time is over", async () => {
    const { id } = await connection.startProcess({ command: "sleep 600" });
    expect(await connection.processOutput({ id, wait: true, timeoutMs: 20 })).toEqual({
      output: "",
      running: true,
    });
    expect(await connection.processOutput({ id })).toEqual({ output: "", running: true });
    await connection.signalProcess(id, "kill");
  });

  test("can be abandoned, which does not touch the process", async () => {
    const { id } = await connection.startProcess({ command: "sleep 600" });
    const controller = new AbortController();
    const wait = connection.processOutput({ id, wait: true, signal: controller.signal });
    const reason = { kind: "interrupt" };
    controller.abort(reason);
    expect(await wait.catch((error: unknown) => error)).toBe(reason);
    expect((await connection.processOutput({ id })).running).toBe(true);
    await connection.signalProcess(id, "kill");
  });
});

describe("a signal", () => {
  test("reaches a whole pipeline", async () => {
    const members = makeFifo(join(agent.folder, "members"));
    const { id } = await connection.startProcess({
      command: "exec 3>members; (sleep 600; true) | cat | cat",
    });
    await members.opened;
    await connection.signalProcess(id, "kill");
    await members.closed;
    expect(await connection.processOutput({ id, wait: true })).toEqual({
      output: "",
      running: false,
      exitCode: -1,
      signal: "SIGKILL",
    });
  });

  test("is refused for a process that has exited, is unknown, or gets a signal that is none", async () => {
    const { id } = await connection.startProcess({ command: "true" });
    await connection.processOutput({ id, wait: true });
    expect(await refusal(connection.signalProcess(id, "terminate"))).toEqual({
      status: 409,
      message: `Process ${id} has already exited.`,
      field: undefined,
    });
    expect((await refusal(connection.signalProcess("../etc", "kill"))).status).toBe(404);
    expect((await refusal(connection.signalProcess(id, "hup" as "kill"))).status).toBe(400);
  });
});

describe("two chats", () => {
  test("do not see each other's processes", async () => {
    const [first, second] = [connection.forChat("chat-1"), connection.forChat("chat-2")];
    const { id } = await first.startProcess({ command: "sleep 600" });
    const unknown = { status: 404, message: `Process ${id} was not found.`, field: "id" };

    expect((await first.listProcesses()).processes.map((process) => process.id)).toEqual([id]);
    expect(await second.listProcesses()).toEqual({ processes: [], total: 0 });
    expect(await refusal(second.processOutput({ id }))).toEqual(unknown);
    expect(await refusal(second.processOutput({ id, wait: true }))).toEqual(unknown);
    expect(await refusal(second.signalProcess(id, "kill"))).toEqual(unknown);
    await first.signalProcess(id, "kill");
  });
});

describe("the list of processes", () => {
  test("shows those running first, then the newest, at most ten", async () => {
    const chat = connection.forChat("chat-list");
    const { id: running } = await chat.startProcess({ command: "sleep 600", background: true });
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
        command: "sleep 600",
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
});

describe("a start with an idempotency key", () => {
  const request = { command: "echo once >> keyed; cat keyed", idempotencyKey: "chat:message:call" };

  test("runs once, however often and at the same time it is asked for", async () => {
    const chat = connection.forChat("chat-key");
    const answers = await Promise.all(Array.from({ length: 10 }, () => chat.startProcess(request)));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.map(({ started, attached }) => `${started} ${attached}`).sort()).toEqual([
      ...Array.from({ length: 9 }, () => "false true"),
      "true false",
    ]);
    const id = answers[0]?.id ?? "";
    const first = await chat.processOutput({ id, wait: true });
    const again = await chat.startProcess(request);
    expect(again).toEqual({ id, started: false, attached: true });
    expect([first, await chat.processOutput({ id })].map(({ output }) => output)).toEqual([
      "once\n",
      "once\n",
    ]);
  });

  test("is a conflict with another command, and its own in another chat", async () => {
    const chat = connection.forChat("chat-key-2");
    const { id } = await chat.startProcess({ command: "true", idempotencyKey: "key" });
    expect(await refusal(chat.startProcess({ command: "false", idempotencyKey: "key" }))).toEqual({
      status: 409,
      message: "This idempotency key already started a different command.",
      field: "idempotencyKey",
    });
    const other = await connection
      .forChat("chat-key-3")
      .startProcess({ command: "false", idempotencyKey: "key" });
    expect([other.started, other.id === id]).toEqual([true, false]);
  });

  test("can be tried again when it could not start", async () => {
    const chat = connection.forChat("chat-key-4");
    const wanted = { command: "pwd", workdir: "later", idempotencyKey: "key" };
    expect((await refusal(chat.startProcess(wanted))).field).toBe("workdir");
    await mkdir(join(agent.folder, "later"));
    expect((await chat.startProcess(wanted)).started).toBe(true);
  });
});
