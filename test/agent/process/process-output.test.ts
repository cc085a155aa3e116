import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { makeFifo } from "../files/fifo.js";
import { finish, openAgent, pollUntil, type RunningAgent } from "./process-agent.js";

let agent: RunningAgent;
let connection: AgentConnection;

beforeAll(async () => {
  agent = await openAgent();
  connection = agent.connection;
});
afterAll(() => agent.stop());

const LINES = 512;
/** Lines of 64 bytes: exactly 512 are retained. */
const printLines = (count: number) =>
  `n=0; while [ $n -lt ${count} ]; do n=$((n+1)); printf '%063d\\n' $n; done`;
const line = (number: number) => `${String(number).padStart(63, "0")}\n`;

describe("output", () => {
  test("[P10] of 32 KiB is retained to the last byte", async () => {
    expect(await finish(connection, printLines(LINES))).toEqual({
      output: Array.from({ length: LINES }, (_, index) => line(index + 1)).join(""),
      running: false,
      exitCode: 0,
    });
  });

  test("[P10] of more retains both ends, and says in text and numbers what is missing", async () => {
    const part = (from: number) =>
      Array.from({ length: LINES / 2 }, (_, index) => line(from + index)).join("");
    expect(await finish(connection, printLines(LINES + 1))).toEqual({
      output: `${part(1)}\n\n... [omitted 64 bytes] ...\n\n${part(LINES / 2 + 2)}`,
      truncation: {
        originalBytes: 64 * (LINES + 1),
        retainedBytes: 64 * LINES,
        omittedBytes: 64,
        strategy: "head_tail",
      },
      running: false,
      exitCode: 0,
    });
  });

  test("[P11] has its long lines cut and counted", async () => {
    const cut = `${"x".repeat(2032)} ... [truncated]\n`;
    expect(
      await finish(
        connection,
        "head -c 2048 /dev/zero | tr '\\0' y; echo; head -c 5000 /dev/zero | tr '\\0' x; echo",
      ),
    ).toEqual({
      output: `${"y".repeat(2048)}\n${cut}`,
      truncation: { originalBytes: 7050, retainedBytes: 4082, omittedBytes: 2968, strategy: "head_tail" },
      running: false,
      exitCode: 0,
    });
    expect(Buffer.byteLength(cut)).toBe(2049);
  });

  test("[P12] is cut between characters, at every place where it is cut", async () => {
    const { output, truncation } = await finish(
      connection,
      "printf a; yes '€€€€€€€€€€€€€€€€€€€€€' | head -n 2000; yes € | head -n 3000 | tr -d '\\n'",
    );
    expect([output.includes("\uFFFD"), output.includes(" ... [truncated]"), output.slice(0, 3)]).toEqual([
      false,
      true,
      "a€€",
    ]);
    const { originalBytes = 0, retainedBytes = 0, omittedBytes = 0 } = truncation ?? {};
    expect([originalBytes, retainedBytes + omittedBytes]).toEqual([137_001, 137_001]);
  });

  test("[P12] that is no text is shown with replacement characters, and NULs come through", async () => {
    expect((await finish(connection, "printf 'a\\377\\000b'")).output).toBe("a\uFFFD\0b");
  });

  test("[P13] is complete when a process has ended", async () => {
    const ends = await Promise.all(
      Array.from({ length: 40 }, () => finish(connection, "seq 1 4000 | tail -n 1; printf end")),
    );
    expect(new Set(ends.map(({ output }) => output))).toEqual(new Set(["4000\nend"]));
  });

  test("[P14] kept open by a grandchild ends a process five seconds after its shell, and the grandchild lives on", async () => {
    const gate = makeFifo(join(agent.folder, "gate"));
    const command =
      "(trap '' PIPE; exec 3>gate; while :; do echo late; [ -e stop ] && exit; sleep 0.05; done) & echo said";
    const { id } = await connection.startProcess({ command });
    await gate.opened;
    const first = await connection.processOutput({ id });
    const ended = await connection.processOutput({ id, wait: true });
    expect([first.running, ended.running, ended.exitCode]).toEqual([true, false, 0]);
    expect(ended.output).toMatch(/^(?:late\n)*said\n(?:late\n)+$/);
    // Two more rounds of the loop would have added to the output, or ended the grandchild.
    await finish(connection, "sleep 0.3");
    expect(await connection.processOutput({ id })).toEqual(ended);
    expect((await finish(connection, "touch stop; echo stopped")).output).toBe("stopped\n");
    await gate.closed;
  });
});

describe("waiting for a process", () => {
  test("[P15] [P16] ends with its exit, for everyone who waits", async () => {
    const gate = makeFifo(join(agent.folder, "waited"));
    const { id } = await connection.startProcess({ command: "exec 3>waited; echo new; sleep 600" });
    await gate.opened;
    const waits = Array.from({ length: 50 }, () => connection.processOutput({ id, wait: true }));
    await connection.signalProcess(id, "terminate");
    await gate.closed;
    const ended = { output: "new\n", running: false, exitCode: -1, signal: "SIGTERM" };
    expect(await Promise.all(waits)).toEqual(waits.map(() => ended));
  });

  test("[P15] does not end because there is output", async () => {
    const { id } = await connection.startProcess({
      command: "while [ ! -e go ]; do sleep 0.02; done; echo new; exec sleep 600",
    });
    const wait = connection.processOutput({ id, wait: true });
    await finish(connection, "touch go");
    await pollUntil(
      () => connection.processOutput({ id }),
      ({ output }) => output !== "",
    );
    await connection.signalProcess(id, "kill");
    expect(await wait).toEqual({ output: "new\n", running: false, exitCode: -1, signal: "SIGKILL" });
  });

  test("[P15] gives a snapshot when its time is over", async () => {
    const { id } = await connection.startProcess({ command: "exec sleep 600" });
    const running = { output: "", running: true };
    expect([
      await connection.processOutput({ id, wait: true, timeoutMs: 20 }),
      await connection.processOutput({ id, wait: true, timeoutMs: 0 }),
      await connection.processOutput({ id }),
    ]).toEqual([running, running, running]);
    await connection.signalProcess(id, "kill");
  });

  test.each(["wait=yes", "wait=1", "wait=", "wait=true&timeoutMs=-1", "wait=true&timeoutMs=soon"])(
    "[P15] is refused when asked by %s",
    async (query) => {
      const { id } = await connection.startProcess({ command: "true" });
      const response = await fetch(new URL(`/v1/processes/${id}/output?${query}`, agent.url), {
        headers: { authorization: `Bearer ${agent.token}` },
      });
      await response.text();
      expect(response.status).toBe(400);
    },
  );

  test("[P16] can be abandoned, which touches neither the process nor others who wait", async () => {
    const { id } = await connection.startProcess({ command: "exec sleep 600" });
    const controller = new AbortController();
    const wait = connection.processOutput({ id, wait: true, signal: controller.signal });
    const other = connection.processOutput({ id, wait: true });
    const reason = { kind: "interrupt" };
    controller.abort(reason);
    expect(await wait.catch((error: unknown) => error)).toBe(reason);
    expect((await connection.processOutput({ id })).running).toBe(true);
    await connection.signalProcess(id, "kill");
    expect(await other).toMatchObject({ running: false, signal: "SIGKILL" });
  });
});
