// Live output of commands from a real agent: as lines over HTTP, and through the server's own follower.
import { once } from "node:events";
import { appendFile, rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  processStreamLineSchema,
  type ProcessStreamLine,
} from "../../../src/agent/protocol/process-stream.js";
import { whileFollowing } from "../../../src/engine/tools/processes/live-output.js";
import type { ToolContext } from "../../../src/engine/tools/tool.js";
import { systemClock } from "../../../src/lib/clock.js";
import { connectAgent, type AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { spawnAgent, type AgentProcess } from "../../../src/workspaces/provisioners/agent-process.js";
import { makeFifo } from "../files/fifo.js";
import { agentCommand, makeFolder } from "../support.js";
import { noAgents } from "../../support/workspaces/no-agents.js";
import { eventually } from "../../support/eventually.js";
import { scaled } from "../../support/scale.js";

const MUCH_OUTPUT_BYTES = scaled(50_000_000);

let folder: string;
let agent: AgentProcess;
let address: { url: string; token: string };
let connection: AgentConnection;

beforeAll(async () => {
  folder = await makeFolder();
  const environment = { ...process.env };
  const options = { command: agentCommand, directory: folder, environment, logLevel: "silent" };
  agent = spawnAgent({ ...options, clock: systemClock });
  address = await agent.listening;
  connection = connectAgent(address);
});
afterAll(async () => {
  await agent.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Answers while the command still runs; nothing is read yet. */
async function request(id: string, { from = 0, chatId = "" } = {}): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${address.token}`, ...(chatId && { "parley-chat-id": chatId }) };
  const sent = get(`${address.url}/v1/processes/${id}/stream?from=${from}`, { headers });
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<ProcessStreamLine> {
  let rest = "";
  for await (const text of response.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield processStreamLineSchema.parse(JSON.parse(line));
  }
}

async function linesUntilEnd(id: string, options = {}): Promise<ProcessStreamLine[]> {
  return restOf(await request(id, options));
}

async function restOf(response: IncomingMessage): Promise<ProcessStreamLine[]> {
  const lines: ProcessStreamLine[] = [];
  for await (const line of linesOf(response)) lines.push(line);
  return lines;
}

const textOf = (lines: ProcessStreamLine[]) =>
  lines.map((line) => (line.type === "output" ? line.text : "")).join("");

/** Received and missing bytes, up to the end. */
function countBytes(
  lines: ProcessStreamLine[],
  from = 0,
): { received: number; missing: number; end: number } {
  const counts = { received: 0, missing: 0, end: -1 };
  let offset = from;
  for (const line of lines) {
    if (line.type === "alive") continue;
    counts.missing += line.offset - offset;
    if (line.type === "end") counts.end = line.offset;
    else {
      counts.received += line.nextOffset - line.offset;
      offset = line.nextOffset;
    }
  }
  return counts;
}

let gates = 0;

/** A command that continues on request. */
async function start(before: string, after: string, chat = connection) {
  const gate = join(folder, `gate-${(gates += 1)}`);
  // Waits silently until the condition is met.
  const wait = `until [ -e ${gate} ]; do sleep 0.02; done`;
  const { id } = await chat.startProcess({ command: `${before}; ${wait}; ${after}` });
  return { id, resume: () => appendFile(gate, "") };
}

describe("a follower", () => {
  test("[L1] receives a command's output while it runs, and then its end, like every other follower", async () => {
    const { id, resume } = await start("echo one", "echo two");
    const others = [linesUntilEnd(id), linesUntilEnd(id, { from: 4 })];
    const lines: ProcessStreamLine[] = [];
    for await (const line of linesOf(await request(id))) {
      lines.push(line);
      if (lines.length === 1) await resume();
    }
    expect(lines).toEqual([
      { type: "output", offset: 0, nextOffset: 4, text: "one\n" },
      { type: "output", offset: 4, nextOffset: 8, text: "two\n" },
      { type: "end", offset: 8 },
    ]);
    expect((await Promise.all(others)).map(textOf)).toEqual(["one\ntwo\n", "two\n"]);
  });

  test("[L1] of a command that 64 follow already is refused, until one of them leaves", async () => {
    const { id, resume } = await start("echo one", "true");
    const all = await Promise.all(Array.from({ length: 64 }, () => request(id)));
    const statusOfNext = async () => {
      const next = await request(id);
      next.destroy();
      return next.statusCode;
    };
    const refusal = await statusOfNext();
    for (const response of all) response.destroy();
    await eventually(async () => expect(await statusOfNext()).toBe(200));
    await resume();
    expect([all.every(({ statusCode }) => statusCode === 200), refusal]).toEqual([true, 429]);
  });

  test("[L2] that joins late gets the newest 64 KiB and their offset", async () => {
    const { id, resume } = await start("head -c 200000 /dev/zero | tr '\\0' x", "echo; echo end");
    await eventually(async () => {
      const { truncation } = await connection.processOutput({ id });
      expect(truncation?.originalBytes).toBe(200_000);
    });
    const response = await request(id);
    await resume();
    const lines: ProcessStreamLine[] = [];
    for await (const line of linesOf(response)) lines.push(line);
    const [first] = lines;
    // The last output may already be part of the first line.
    expect(first).toMatchObject({ type: "output", offset: expect.any(Number) as number });
    const { received, missing, end } = countBytes(lines);
    expect([received + missing, end, received >= 64 * 1024, received <= 64 * 1024 + 5]).toEqual([
      200_005,
      200_005,
      true,
      true,
    ]);
    expect(textOf(lines).endsWith("xxx\nend\n")).toBe(true);
  });

  test("[L3] never gets half a character, and learns of bytes that are none", async () => {
    const half = await start(
      "printf 'caf\\303'",
      "printf '\\251 \\360\\237'; sleep 0.3; printf '\\230\\200'",
    );
    const binary = await start("printf 'a\\000b\\377\\376c'", "printf '\\303'");
    // Followed before they continue: the live output of an ended command is not retained for later readers.
    const whole = restOf(await request(half.id));
    const noise = restOf(await request(binary.id));
    await Promise.all([half.resume(), binary.resume()]);
    expect([textOf(await whole), textOf(await noise)]).toEqual(["café 😀", "a\0b\uFFFD\uFFFDc\uFFFD"]);
    for (const line of await whole) if (line.type === "output") expect(line.text).not.toContain("\uFFFD");
  });

  test("[L3] that starts in the middle of a character gets the next one on, where bytes are missing", async () => {
    const { id, resume } = await start("yes é | head -c 200001", "true");
    await eventually(async () => {
      const { truncation } = await connection.processOutput({ id });
      expect(truncation?.originalBytes).toBe(200_001);
    });
    const response = await request(id);
    await resume();
    const lines: ProcessStreamLine[] = [];
    for await (const line of linesOf(response)) lines.push(line);
    expect(new Set(textOf(lines))).toEqual(new Set(["é", "\n"]));
    expect(countBytes(lines)).toMatchObject({ end: 200_001 });
  });

  test("[L4] that does not read costs nothing and slows nothing down: it finds a gap", async () => {
    const done = makeFifo(join(folder, "done"));
    const command = `exec 3> done; sleep 0.5; head -c ${MUCH_OUTPUT_BYTES} /dev/zero | tr '\\0' x; sleep 0.2`;
    const { id } = await connection.startProcess({ command });
    const sleeping = await request(id);
    sleeping.pause();
    await done.closed;
    const { running } = await connection.processOutput({ id, wait: true });
    const lines: ProcessStreamLine[] = [];
    for await (const line of linesOf(sleeping)) lines.push(line);
    const { received, missing, end } = countBytes(lines);
    expect([running, received + missing, end, missing > 0.8 * MUCH_OUTPUT_BYTES]).toEqual([
      false,
      MUCH_OUTPUT_BYTES,
      MUCH_OUTPUT_BYTES,
      true,
    ]);
  });

  test("[L5] is not flooded by a command that prints without end", async () => {
    const { id, resume } = await start("true", "yes | head -c 100000000");
    const following = restOf(await request(id));
    await resume();
    const lines = await following;
    const { received, missing, end } = countBytes(lines);
    expect([received + missing, end]).toEqual([100_000_000, 100_000_000]);
    expect(lines.every((line) => line.type !== "output" || line.nextOffset - line.offset <= 64 * 1024)).toBe(
      true,
    );
    expect(received).toBeLessThan(20_000_000);
  });

  test("[L6] of a silent command receives signs that the agent is alive", async () => {
    const { id, resume } = await start("true", "true");
    const lines: string[] = [];
    for await (const line of linesOf(await request(id))) {
      lines.push(line.type);
      if (line.type === "alive") await resume();
    }
    expect(lines).toEqual(["alive", "end"]);
  });

  test("[L7] finds only its own chat's commands", async () => {
    const chat = connection.forChat("chat-1");
    const { id, resume } = await start("echo mine", "true", chat);
    const otherChats = await request(id, { chatId: "chat-2" });
    const unknown = await request("no-such-process");
    const own = restOf(await request(id, { chatId: "chat-1" }));
    await resume();
    const output = async (response: IncomingMessage) => {
      const parts: string[] = [];
      for await (const part of response.setEncoding("utf8") as AsyncIterable<string>) parts.push(part);
      return [response.statusCode, parts.join("").replace(id, "ID").replace("no-such-process", "ID")];
    };
    const refusal = [404, JSON.stringify({ message: "Process ID was not found.", field: "id" })];
    expect([await output(otherChats), await output(unknown), textOf(await own)]).toEqual([
      refusal,
      refusal,
      "mine\n",
    ]);
  });

  test("[L8] of an ended command receives only the end", async () => {
    const { id } = await connection.startProcess({ command: "echo over" });
    await connection.processOutput({ id, wait: true });
    expect(await linesUntilEnd(id)).toEqual([{ type: "end", offset: 5 }]);
    expect(await linesUntilEnd(id, { from: 1_000_000_000 })).toEqual([{ type: "end", offset: 5 }]);
  });

  test("[L9] that leaves changes nothing for the command and other followers", async () => {
    const { id, resume } = await start("echo one", "echo two");
    const leaving = await request(id);
    const staying = restOf(await request(id));
    await once(leaving, "readable");
    leaving.destroy();
    await resume();
    const { output, exitCode } = await connection.processOutput({ id, wait: true });
    expect([output, exitCode, textOf(await staying)]).toEqual(["one\ntwo\n", 0, "one\ntwo\n"]);
  });

  test("that asks for nonsense is refused", async () => {
    const { id, resume } = await start("true", "true");
    const response = await fetch(`${address.url}/v1/processes/${id}/stream?from=-1`, {
      headers: { authorization: `Bearer ${address.token}` },
    });
    await resume();
    expect([response.status, await response.json()]).toMatchObject([400, { field: "from" }]);
  });
});

/** A connection to the agent that the test can cut. */
async function startPassage() {
  const sockets = new Set<Socket>();
  let passages = 0;
  const server = createServer((client) => {
    passages += 1;
    const upstream = connect(Number(new URL(address.url).port), "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passages: () => passages,
    cut() {
      const cut = [...sockets];
      sockets.clear();
      for (const socket of cut) socket.destroy();
      return cut.length;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

describe("a tool that waits", () => {
  /** Follows the command's output until the test has seen enough. */
  function follow(waysThere: AgentConnection[], id: string) {
    const chunks: string[] = [];
    const missed: number[] = [];
    const context: ToolContext = {
      workspace: () => Promise.resolve(waysThere.shift() ?? connection),
      agents: noAgents,
      idempotencyKey: id,
      signal: new AbortController().signal,
      output(text, missedBytes = 0) {
        chunks.push(text);
        if (missedBytes > 0) missed.push(missedBytes);
      },
    };
    const until = async (text: string) => {
      const hasReceived = () => expect(chunks.join("")).toBe(text);
      await eventually(hasReceived);
    };
    const start = (agentConnection: AgentConnection, wait: () => Promise<unknown>) =>
      whileFollowing(context, agentConnection, id, wait);
    return { chunks, missed, until, start };
  }

  test("follows a command to its end over a stream that breaks, without duplicates or losses", async () => {
    const passage = await startPassage();
    const byPassage = connectAgent({ ...address, url: passage.url });
    const { id, resume } = await start("echo one", "echo two; sleep 1");
    const { missed, until, start: begin } = follow([byPassage], id);
    await begin(byPassage, async () => {
      await until("one\n");
      expect(passage.cut()).toBe(2);
      await eventually(() => expect(passage.passages()).toBe(2));
      await resume();
      await until("one\ntwo\n");
    });
    expect(missed).toEqual([]);
    passage.cut();
    await passage.close();
  });

  test("finds another connection to the agent when its own is closed", async () => {
    const nowhere = connectAgent({ ...address, url: "http://127.0.0.1:1" });
    const { id, resume } = await start("echo one", "true");
    const { until, start: begin } = follow([nowhere], id);
    await begin(nowhere, () => until("one\n"));
    await resume();
  });

  test("ends with its own answer, whatever becomes of the stream", async () => {
    const nowhere = connectAgent({ ...address, url: "http://127.0.0.1:1" });
    const stuck = { ...connection, followOutput: nowhere.followOutput };
    const { id, resume } = await start("echo one", "true");
    const answers = [
      follow([], id).start(stuck, () => Promise.resolve("answer")),
      follow([], "no-such-process").start(connection, () => Promise.resolve("answer")),
      follow([], id).start(connection, () => Promise.reject(new Error("away"))),
    ];
    expect(await Promise.allSettled(answers)).toMatchObject([
      { value: "answer" },
      { value: "answer" },
      { reason: { message: "away" } },
    ]);
    await resume();
  });
});
