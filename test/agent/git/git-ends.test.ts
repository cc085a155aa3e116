// Start and end of git watches: authorization, malformed messages, and complete cleanup.
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { systemClock } from "../../../src/lib/clock.js";
import { connectAgent } from "../../../src/workspaces/agent-client/agent-connection.js";
import { spawnAgent } from "../../../src/workspaces/provisioners/agent-process.js";
import { Listener, makeRepository, write } from "./git-support.js";
import { agentCommand, makeFolder, startTestAgent, type TestAgent } from "../support.js";

let agent: TestAgent;
beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(() => agent.close());

test("[G2] without git the watch reports that once, stays open and sends nothing more", async () => {
  const bare = await startTestAgent({ PATH: "/nonexistent" });
  try {
    const root = await makeRepository(join(bare.folder, "repository"));
    const listener = await Listener.open(bare.connection, "chat");
    await listener.untilTrue(() => listener.messages.length === 1);
    listener.refresh(1);
    await bare.connection.forChat("chat").writeFile({ path: join(root, "b.txt"), content: "b\n" });
    // Another watch proves that time has passed.
    const other = await Listener.open(bare.connection, "other");
    await other.untilTrue(() => other.messages.length === 1);
    const received = [listener, other].map(({ messages, isLost }) => ({ messages, isLost }));
    listener.close();
    other.close();
    const expected = { messages: [{ type: "ready", hasGit: false }], isLost: false };
    expect(received).toEqual([expected, expected]);
  } finally {
    await bare.close();
  }
});

/** Processes of this machine whose environment contains the mark. */
async function marked(mark: string): Promise<number[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/environ`, "latin1").catch(() => "")),
  );
  return ids.filter((_id, index) => environments[index]?.includes(mark)).map(Number);
}

async function untilMarked(mark: string, condition: (count: number) => boolean): Promise<void> {
  while (!condition((await marked(mark)).length)) await new Promise((resolve) => setImmediate(resolve));
}

/** A git that hangs, with a child process, at the first `status` of a repository. */
async function hangingGit(folder: string, mark: string): Promise<Record<string, string>> {
  const binFolder = join(folder, "hanging");
  await mkdir(binFolder, { recursive: true });
  const real = `PATH='${process.env["PATH"]}' exec git "$@"`;
  const script = `#!/bin/sh\nPATH='${process.env["PATH"]}'\ncase " $* " in *" status "*) MARK=${mark} sleep 1000 & MARK=${mark} sleep 1000;; esac\n${real}\n`;
  await writeFile(join(binFolder, "git"), script);
  await chmod(join(binFolder, "git"), 0o755);
  return { PATH: `${binFolder}:${process.env["PATH"]}` };
}

test("[G20] a watch that is closed takes its hanging git with it, and so does the agent", async () => {
  const folder = await makeFolder();
  const mark = `TEST_MARK_${process.pid}`;
  const slow = await startTestAgent(await hangingGit(folder, mark));
  try {
    await makeRepository(slow.folder);
    const one = await Listener.open(slow.connection, "one");
    await untilMarked(mark, (count) => count === 2);
    one.close();
    await untilMarked(mark, (count) => count === 0);
    await Listener.open(slow.connection, "two");
    await untilMarked(mark, (count) => count === 2);
    await slow.close();
    await untilMarked(mark, (count) => count === 0);
  } finally {
    await slow.close();
    await rm(folder, { recursive: true });
  }
});

// It is not visible from outside when the second has found the repository; on a busy machine that may be too late.
test(
  "[G20] two watches of one repository share a scan, which continues when one of them ends",
  { retry: 3 },
  async () => {
    const folder = await makeFolder();
    const mark = `PARLEY_TEST_SHARED_${process.pid}`;
    const slow = await startTestAgent(await hangingGit(folder, mark));
    try {
      await makeRepository(slow.folder);
      const both = await Promise.all(["one", "two"].map((chatId) => Listener.open(slow.connection, chatId)));
      await untilMarked(mark, (count) => count === 2);
      const before = await marked(mark);
      both[0]?.close();
      // The agent answers in order: after this it has processed the end.
      await slow.connection.health();
      expect(await marked(mark)).toEqual(before);
      both[1]?.close();
      await untilMarked(mark, (count) => count === 0);
    } finally {
      await slow.close();
      await rm(folder, { recursive: true });
    }
  },
);

// An agent whose token the test knows, for messages that no client of ours would send.
async function openAgentServer() {
  const folder = await makeFolder();
  const log = { logLevel: "silent", clock: systemClock };
  const program = spawnAgent({
    ...{ command: agentCommand, directory: folder, environment: process.env },
    ...log,
  });
  const { url, token } = await program.listening;
  const headers = { authorization: `Bearer ${token}`, "parley-chat-id": "chat" };
  const close = async () => {
    await program.stop();
    await rm(folder, { recursive: true });
  };
  return { folder, url, token, headers, close };
}

type AgentServer = Awaited<ReturnType<typeof openAgentServer>>;

async function upgrade(url: string, path: string, headers: Record<string, string>) {
  const socket = new WebSocket(new URL(path, url.replace("http", "ws")), { headers });
  socket.on("error", () => undefined);
  const refused = once(socket, "unexpected-response") as Promise<
    [unknown, AsyncIterable<Buffer> & { statusCode: number }]
  >;
  const [, response] = await refused;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, ...(JSON.parse(Buffer.concat(chunks).toString("utf8")) as object) };
}

test("[G1] a watch needs the token, a chat and the right path", async () => {
  const server = await openAgentServer();
  const watch = "/v1/git/watch";
  const good = server.headers;
  const badToken = { status: 401, message: "A valid bearer token is required." };
  try {
    expect([
      await upgrade(server.url, watch, {}),
      await upgrade(server.url, watch, { ...good, authorization: "Bearer wrong" }),
      await upgrade(server.url, "/v1/processes", good),
      await upgrade(server.url, watch, { authorization: good.authorization }),
      await upgrade(server.url, watch, { ...good, "parley-chat-id": "two words" }),
      await upgrade(server.url, watch, { ...good, "parley-ancestor-chat-ids": "{" }),
    ]).toEqual([
      badToken,
      badToken,
      { status: 404, message: "There is nothing to upgrade at /v1/processes." },
      { status: 400, message: "A watch needs a chat; name it in the header." },
      { status: 400, message: "The header parley-chat-id is not valid.", field: "parley-chat-id" },
      {
        status: 400,
        message: "The header parley-ancestor-chat-ids is not valid.",
        field: "parley-ancestor-chat-ids",
      },
    ]);
  } finally {
    await server.close();
  }
});

type ReceivedMessage = { type: string; message?: string };

async function openRaw({ url, headers }: AgentServer, options: object = {}) {
  const socket = new WebSocket(new URL("/v1/git/watch", url.replace("http", "ws")), {
    headers,
    ...options,
  });
  const receivedMessages: ReceivedMessage[] = [];
  socket.on("message", (bytes) =>
    receivedMessages.push(JSON.parse((bytes as Buffer).toString("utf8")) as ReceivedMessage),
  );
  await once(socket, "open");
  const until = async (condition: () => boolean) => {
    while (!condition()) await once(socket, "message");
  };
  return { socket, receivedMessages, until };
}

test("[G16] malformed messages are answered with an error, and the watch continues", async () => {
  const server = await openAgentServer();
  try {
    const { socket, receivedMessages, until } = await openRaw(server);
    const errors = () => receivedMessages.filter(({ type }) => type === "error");
    const nonsense = ['{"type":"unknown"}', "{", '{"type":"refresh","id":-1}', Buffer.from([1, 2]), "[]"];
    for (const text of nonsense) socket.send(text);
    await until(() => errors().length === nonsense.length);
    socket.send('{"type":"refresh"}');
    const scans = () => receivedMessages.filter(({ type }) => type === "scanned").length;
    const before = scans();
    await until(() => scans() > before);
    socket.terminate();
    expect(errors()).toEqual(nonsense.map(() => ({ type: "error", message: "unknown message type" })));
  } finally {
    await server.close();
  }
});

test("[G17] a message of more than 4 MiB ends the watch, and nothing but it", async () => {
  const server = await openAgentServer();
  try {
    const [greedy, modest] = [await openRaw(server), await openRaw(server)];
    greedy.socket.send("x".repeat(4 * 1024 * 1024 + 1));
    const [code] = (await once(greedy.socket, "close")) as [number];
    modest.socket.send('{"type":"nonsense"}');
    await modest.until(() => modest.receivedMessages.some(({ type }) => type === "error"));
    modest.socket.terminate();
    expect(code).toBe(1009);
  } finally {
    await server.close();
  }
});

test("[G17] a long diff is sent in chunks that are short enough, whatever is in it", async () => {
  const server = await openAgentServer();
  try {
    await makeRepository(server.folder);
    await write(server.folder, { "control.txt": "\u0001".repeat(3_000_000) });
    const sizes: number[] = [];
    const raw = await openRaw(server);
    raw.socket.on("message", (bytes) => sizes.push((bytes as Buffer).length));
    await raw.until(() => raw.receivedMessages.some(({ type }) => type === "repository"));
    raw.socket.terminate();
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect([Math.max(...sizes) < 4 * 1024 * 1024, total > 12 * 1024 * 1024]).toEqual([true, true]);
  } finally {
    await server.close();
  }
});

test.concurrent(
  "[G18] a connection that does not answer a ping is closed, one that does stays open",
  async () => {
    const server = await openAgentServer();
    try {
      const [dead, alive] = [await openRaw(server, { autoPong: false }), await openRaw(server)];
      await once(dead.socket, "close");
      const state = alive.socket.readyState;
      alive.socket.terminate();
      expect(state).toBe(WebSocket.OPEN);
    } finally {
      await server.close();
    }
  },
);

test.concurrent("[G19] who does not read is not written to without end, and is cut", async () => {
  const server = await openAgentServer();
  try {
    await makeRepository(server.folder);
    const text = Array.from({ length: 2_500_000 }, (_, index) => String.fromCharCode(33 + (index % 89))).join(
      "",
    );
    await write(server.folder, { "large.txt": text });
    const { socket } = await openRaw(server, { perMessageDeflate: false });
    socket.pause();
    const other = await openRaw(server);
    await other.until(() => other.receivedMessages.some(({ type }) => type === "repository"));
    // The agent closes it by itself; earlier messages can still be read.
    await once(other.socket, "ping");
    await once(other.socket, "ping");
    await once(other.socket, "ping");
    socket.resume();
    const [code] = (await once(socket, "close")) as [number];
    other.socket.terminate();
    expect(code).toBe(1006);
  } finally {
    await server.close();
  }
});

test("the client is notified when the agent refuses or goes away", async () => {
  const server = await openAgentServer();
  const watch = (token: string) => Listener.open(connectAgent({ url: server.url, token }), "chat");
  await expect(watch("another token, and a wrong one")).rejects.toThrow("git watch ended");
  const listener = await watch(server.token);
  await listener.untilTrue(() => listener.scans.length > 0);
  await server.close();
  await expect(listener.untilTrue(() => listener.isLost)).resolves.toBeUndefined();
  await expect(watch(server.token)).rejects.toThrow("git watch ended");
});
