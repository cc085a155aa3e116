import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { makeFifo } from "../files/fifo.js";
import { finish, openAgent, pollUntil, refusalOf, type RunningAgent } from "./process-agent.js";
import { agentCommand } from "../support.js";

/** Root may enter every directory, so the command then runs as an unprivileged user. */
const asUnprivilegedUser = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--clear-groups"] : [];

let agent: RunningAgent;
let connection: AgentConnection;

beforeAll(async () => {
  agent = await openAgent({
    environment: { FROM_PARENT: "inherited", OVERRIDDEN: "inherited", PARLEY_AGENT_COMMAND_NICE: "5" },
  });
  connection = agent.connection;
  await chmod(agent.folder, 0o755);
});
afterAll(() => agent.stop());

describe("a command", () => {
  test("[P1] gives its output and exit code", async () => {
    expect(await finish(connection, "echo out; exit 3")).toEqual({
      output: "out\n",
      running: false,
      exitCode: 3,
    });
  });

  test("[P1] finds nothing on its input", async () => {
    expect(await finish(connection, "cat; echo end")).toEqual({
      output: "end\n",
      running: false,
      exitCode: 0,
    });
  });

  test("[P1] that a signal ends has no exit code, and the signal is named", async () => {
    expect(await finish(connection, "kill -9 $$")).toEqual({
      output: "",
      running: false,
      exitCode: -1,
      signal: "SIGKILL",
    });
  });

  test("[P1] is the whole text, whatever it begins with", async () => {
    expect((await finish(connection, "-v || echo no such; echo \"$0 '$1'\"")).output).toMatch(
      /-v: .*\nno such\nsh ''\n$/,
    );
  });

  test("[P2] has its output in order, on whichever stream", async () => {
    const lines = Array.from({ length: 50 }, (_, line) => `out ${line}\nerr ${line}\n`).join("");
    expect(
      (
        await finish(
          connection,
          "n=0; while [ $n -lt 50 ]; do echo out $n; echo err $n >&2; n=$((n+1)); done",
        )
      ).output,
    ).toBe(lines);
  });

  test("[P2] can open its streams by name", async () => {
    expect(
      await finish(connection, "echo a > /dev/stderr; echo b | tee /dev/stderr; echo c > /dev/stdout"),
    ).toEqual({ output: "a\nb\nb\nc\n", running: false, exitCode: 0 });
  });

  test("[P2] has its output in order also where no named pipe can be created", async () => {
    const other = await openAgent({ environment: { TMPDIR: join(agent.folder, "no/such/place") } });
    const ended = await finish(other.connection, "echo a; echo b >&2; echo c; exit 3");
    const background = await other.connection.startProcess({ command: "exec sleep 600" });
    await other.connection.signalProcess(background.id, "terminate");
    const signalled = await other.connection.processOutput({ id: background.id, wait: true });
    await other.stop();
    expect([ended, signalled]).toEqual([
      { output: "a\nb\nc\n", running: false, exitCode: 3 },
      { output: "", running: false, exitCode: -1, signal: "SIGTERM" },
    ]);
  });

  test("[P3] continues when the client that started it disconnects, in the background or not", async () => {
    for (const background of [false, true]) {
      const disconnected = new AbortController();
      const fifo = makeFifo(join(agent.folder, `gone-${background}`));
      const { id } = await connection.startProcess(
        { command: `exec 3>gone-${background}; sleep 600`, background },
        { signal: disconnected.signal },
      );
      await fifo.opened;
      const wait = connection.processOutput({ id, wait: true, signal: disconnected.signal });
      disconnected.abort(new Error("gone"));
      expect(await wait.catch((error: unknown) => error)).toEqual(new Error("gone"));
      expect(await connection.processOutput({ id })).toEqual({ output: "", running: true });
      await connection.signalProcess(id, "kill");
      await fifo.closed;
    }
  });

  test("[P4] leads a process group of its own", async () => {
    const [pid, group, parentGroup] = (
      await finish(connection, "echo $$; ps -o pgid= -p $$; ps -o pgid= -p $PPID")
    ).output
      .split("\n")
      .map(Number);
    expect([group === pid, group === parentGroup]).toEqual([true, false]);
  });

  test("[P5] is killed before the agent when memory runs out, and has the configured niceness", async () => {
    const own = Number(await readFile("/proc/self/oom_score_adj", "utf8"));
    const score = Math.min(1000, Math.max(0, own) + 500);
    const nice = Math.min(19, getPriority() + 5);
    expect((await finish(connection, "cat /proc/self/oom_score_adj; nice")).output).toBe(
      `${score}\n${nice}\n`,
    );
  });

  test("[P6] has a random id", async () => {
    const ids = [
      await connection.startProcess({ command: "true" }),
      await connection.startProcess({ command: "true" }),
    ];
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(ids.map(({ id }) => uuid.test(id))).toEqual([true, true]);
    expect(ids[0]?.id).not.toBe(ids[1]?.id);
  });
});

describe("a command's environment", () => {
  test("[P7] is the allowed part of the agent's, overridden by the request's", async () => {
    const { output } = await finish(
      connection,
      'echo "$FROM_PARENT $OVERRIDDEN [$PARLEY_AGENT_TOKEN]"; env',
      {
        env: { OVERRIDDEN: "requested" },
      },
    );
    expect(output).toMatch(/^inherited requested \[\]\n/);
    expect(output.match(/^PARLEY_AGENT_\w+/gm)).toEqual(["PARLEY_AGENT_INSTANCE"]);
    expect(output).toContain(`\nPATH=${process.env.PATH}\n`);
  });

  test("[P7] has the chat's and the agent's variables, whatever the request contains", async () => {
    const chat = connection.forChat("chat-env", ["parent", "grandparent"]);
    const { instanceId } = await connection.health();
    const forged = { PARLEY_CHAT_ID: "forged", PARLEY_AGENT_INSTANCE: "forged" };
    const command = "echo $PARLEY_CHAT_ID $PARLEY_AGENT_INSTANCE";
    expect((await finish(chat, command, { env: forged })).output).toBe(`chat-env ${instanceId}\n`);
    expect((await finish(connection, command)).output).toBe(`${instanceId}\n`);
  });
});

describe("a command's directory", () => {
  test("[P8] [P9] is the agent's, or another, also a relative one", async () => {
    await mkdir(join(agent.folder, "below"), { recursive: true });
    const outputs = [
      await finish(connection, "pwd"),
      await finish(connection, "pwd", { workdir: "/" }),
      await finish(connection, "pwd", { workdir: "below" }),
    ].map(({ output }) => output);
    expect(outputs).toEqual([`${agent.folder}\n`, "/\n", `${join(agent.folder, "below")}\n`]);
  });

  test("[P8] is refused by name when it does not exist or is none", async () => {
    await writeFile(join(agent.folder, "plain"), "");
    expect(await refusalOf(finish(connection, "pwd", { workdir: "missing" }))).toEqual({
      status: 400,
      message: `The working directory ${join(agent.folder, "missing")} does not exist or cannot be reached.`,
      field: "workdir",
    });
    expect(await refusalOf(finish(connection, "pwd", { workdir: "plain" }))).toEqual({
      status: 400,
      message: `The working directory ${join(agent.folder, "plain")} is not a directory.`,
      field: "workdir",
    });
  });

  test("[P8] is refused by name when it must not be entered", async () => {
    const closed = join(agent.folder, "closed");
    await mkdir(closed, { mode: 0o000 });
    const other = await openAgent({ command: [...asUnprivilegedUser, ...agentCommand] });
    const refusal = await refusalOf(finish(other.connection, "pwd", { workdir: closed }));
    await other.stop();
    expect(refusal).toEqual({
      status: 400,
      message: `The working directory ${closed} must not be entered.`,
      field: "workdir",
    });
  });

  test("[P9] is the home directory when the agent's was removed, and the root when that was removed too", async () => {
    const home = join(agent.folder, "home");
    await mkdir(home);
    const other = await openAgent({ environment: { HOME: home } });
    await rm(other.folder, { recursive: true });
    const chat = other.connection.forChat("chat-home");
    const first = await finish(chat, "pwd");
    await rm(home, { recursive: true });
    const second = await finish(chat, "pwd");
    const { processes } = await chat.listProcesses();
    await other.stop();
    expect([first.output, second.output]).toEqual([`${home}\n`, "/\n"]);
    expect(processes.map(({ workdir }) => workdir)).toEqual(["/", home]);
  });
});

describe("a signal", () => {
  test("[P4] [P24] reaches a whole pipeline and its grandchildren", async () => {
    const members = makeFifo(join(agent.folder, "members"));
    const { id } = await connection.startProcess({
      command: "exec 3>members; (sh -c 'sleep 600 & wait' & sleep 600; true) | cat | cat",
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

  test("[P24] to terminate can be listened to, or not; to kill cannot be ignored", async () => {
    const command = "trap 'echo heard' TERM; exec 3>obstinate; while :; do sleep 600 & wait; done";
    const fifo = makeFifo(join(agent.folder, "obstinate"));
    const { id } = await connection.startProcess({ command });
    await fifo.opened;
    await connection.signalProcess(id, "terminate");
    const seen = await pollUntil(
      () => connection.processOutput({ id }),
      ({ output }) => output !== "",
    );
    expect(seen).toEqual({ output: "heard\n", running: true });
    await connection.signalProcess(id, "kill");
    expect(await connection.processOutput({ id, wait: true })).toEqual({
      output: "heard\n",
      running: false,
      exitCode: -1,
      signal: "SIGKILL",
    });
  });

  test("[P24] is refused for a process that has exited, is unknown, or gets a signal that is none", async () => {
    const { id } = await connection.startProcess({ command: "true" });
    await connection.processOutput({ id, wait: true });
    expect(await refusalOf(connection.signalProcess(id, "terminate"))).toEqual({
      status: 409,
      message: `Process ${id} has already exited.`,
      field: undefined,
    });
    expect((await refusalOf(connection.signalProcess("../etc", "kill"))).status).toBe(404);
    const refusals = [
      await refusalOf(connection.signalProcess(id, "hup" as "kill")),
      await refusalOf(connection.signalProcess(id, undefined as unknown as "kill")),
    ];
    expect(refusals.map(({ status, field }) => [status, field])).toEqual([
      [400, "signal"],
      [400, "signal"],
    ]);
  });
});

describe("a start", () => {
  test.each([
    ["empty", " \n"],
    ["with a NUL", "echo \0"],
    ["longer than the system takes", `echo ${"x".repeat(128 * 1024)}`],
  ])("[P25] is refused when the command is %s", async (_, command) => {
    expect(await refusalOf(finish(connection, command))).toMatchObject({ status: 400, field: "command" });
  });

  test("[P25] may have the longest command that the system takes", async () => {
    const command = "; echo ok".padStart(131_071, ": x");
    expect([command.length, (await finish(connection, command)).output]).toEqual([131_071, "ok\n"]);
  });

  test("[P25] is refused when it is no JSON", async () => {
    const response = await fetch(new URL("/v1/processes", agent.url), {
      method: "POST",
      headers: { authorization: `Bearer ${agent.token}`, "content-type": "application/json" },
      body: '{"command": "tr',
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      { message: expect.stringContaining("JSON") },
    ]);
  });

  test("[P26] says that there is no shell when there is none", async () => {
    expect(await refusalOf(finish(connection, "true", { env: { PATH: agent.folder } }))).toEqual({
      status: 500,
      message:
        "The command could not be started. The workspace has no POSIX shell: `sh` is not on the PATH of the agent or " +
        "of this request. Install one (any of dash, bash or busybox will do) or correct PATH.",
      field: undefined,
    });
  });

  test("[P26] says that the environment is too long when it is", async () => {
    expect(await refusalOf(finish(connection, "true", { env: { LONG: "x".repeat(200_000) } }))).toEqual({
      status: 400,
      message: "The command and its environment together are longer than the system takes.",
      field: "env",
    });
  });
});
