// Remote MCP servers over streamable HTTP and SSE: official ones, and one that loses its sessions.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bridgeToHttp, type Bridge } from "../../support/mcp/mcp-bridge.js";
import {
  EVERYTHING,
  callText,
  memoryServer,
  officialServer,
  refusal,
  testServer,
  until,
  writeServers,
  type Entry,
} from "./mcp-support.js";
import { startTestAgent, type TestAgent } from "../support.js";

let agent: TestAgent;
const bridges: Bridge[] = [];
const children: ChildProcess[] = [];
beforeEach(async () => {
  agent = await startTestAgent({ WHO: "ada" });
  await agent.connection.mcpTools({ permissions: EVERYTHING });
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await agent.close();
  await Promise.all(bridges.splice(0).map((bridge) => bridge.close()));
});

async function bridge(entry: Entry): Promise<Bridge> {
  const made = await bridgeToHttp(entry);
  bridges.push(made);
  return made;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("There is no port.");
  return address.port;
}

/** The official server of that name in the given mode; resolves when its port is open. */
async function serve(mode: "sse" | "streamableHttp"): Promise<{ port: number; child: ChildProcess }> {
  const port = await freePort();
  const { command, args } = officialServer("everything", mode);
  const child = spawn(command, args, { env: { ...process.env, PORT: String(port) }, stdio: "ignore" });
  children.push(child);
  const isOpen = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  await until(isOpen, "the server listens");
  return { port, child };
}

test("[M2] the official servers answer over streamable HTTP, one of them over SSE", async () => {
  const [http, sse, memory, filesystem] = await Promise.all([
    serve("streamableHttp"),
    serve("sse"),
    bridge(memoryServer(join(agent.folder, "memory.jsonl"))),
    bridge(officialServer("filesystem", agent.folder)),
  ]);
  await writeFile(join(agent.folder, "note.txt"), "remember");
  await writeServers(agent.folder, {
    http: { type: "http", url: `http://127.0.0.1:${http.port}/mcp` },
    sse: { type: "sse", url: `http://127.0.0.1:${sse.port}/sse` },
    memory: { url: memory.url, headers: { "X-Who": "${WHO}", "X-Dollar": "$WHO" } },
    files: { type: "streamable-http", url: filesystem.url },
  });
  // A refresh waits for all of them, on a busy machine too.
  const { servers } = await agent.connection.mcpTools({ refresh: true });
  expect(servers.map(({ name, status, error, toolCount }) => [name, error ?? status, toolCount > 5])).toEqual(
    [
      ["files", "ready", true],
      ["http", "ready", true],
      ["memory", "ready", true],
      ["sse", "ready", true],
    ],
  );
  const answers = await Promise.all([
    callText(agent.connection, "http__echo", { message: "one" }),
    callText(agent.connection, "sse__echo", { message: "two" }),
    callText(agent.connection, "memory__search_nodes", { query: "nothing" }).then(
      (text) => JSON.parse(text) as object,
    ),
    callText(agent.connection, "files__read_text_file", { path: join(agent.folder, "note.txt") }),
  ]);
  expect(answers).toEqual(["Echo: one", "Echo: two", { entities: [], relations: [] }, "remember"]);
  const { "x-who": who, "x-dollar": dollar } = memory.seen.at(-1) ?? {};
  expect({ who, dollar }).toEqual({ who: "ada", dollar: "$WHO" });
});

test("[M24] a server that has lost the session gets a new one, on which the call is repeated", async () => {
  const { url, forget } = await bridge(testServer());
  await writeServers(agent.folder, { one: { url } });
  const pid = async () => (JSON.parse(await callText(agent.connection, "one__where")) as { pid: number }).pid;
  const first = await pid();
  await forget();
  const second = await pid();
  expect(second).not.toBe(first);
});

test("[M22] [M24] a server that goes away during a call fails it, and is found again when it is back", async () => {
  const { port, child } = await serve("streamableHttp");
  await writeServers(agent.folder, { one: { url: `http://127.0.0.1:${port}/mcp` } });
  const call = { name: "one__trigger-long-running-operation", arguments: { duration: 60, steps: 60 } };
  await agent.connection.mcpTools();
  const called = refusal(agent.connection.callMcpTool(call));
  // The answer to another call says that this one has reached the server, which takes them in order.
  await callText(agent.connection, "one__echo", { message: "meanwhile" });
  child.kill("SIGKILL");
  expect((await called).status).toBe(502);
  const later = await refusal(
    agent.connection.callMcpTool({ name: "one__echo", arguments: { message: "x" } }),
  );
  expect(later.status).toBe(502);
  const again = officialServer("everything", "streamableHttp");
  children.push(
    spawn(again.command, again.args, { env: { ...process.env, PORT: String(port) }, stdio: "ignore" }),
  );
  const isBack = async () => {
    const { servers } = await agent.connection.mcpTools({ refresh: true });
    return servers[0]?.status === "ready";
  };
  await until(isBack, "the server is ready again");
  expect(await callText(agent.connection, "one__echo", { message: "back" })).toBe("Echo: back");
});

test("[M9] [M25] servers with malformed or endless answers fail with a reason", async () => {
  const megabyte = "x".repeat(1_000_000);
  const server = createHttpServer((request, response) => {
    if (request.url === "/refuses") return void response.writeHead(401).end("Who are you?");
    if (request.url === "/nonsense") return void response.end("Hello!");
    response.setHeader("content-type", "application/json");
    const write = () => void (response.destroyed || response.write(megabyte, () => setImmediate(write)));
    write();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("There is no port.");
  const entry = (path: string) => ({ url: `http://127.0.0.1:${address.port}/${path}` });
  const names = ["refuses", "nonsense", "endless"];
  await writeServers(agent.folder, Object.fromEntries(names.map((name) => [name, entry(name)])));
  const { servers } = await agent.connection.mcpTools({ refresh: true });
  server.closeAllConnections();
  server.close();
  expect(servers.map(({ error }) => error)).toEqual([
    "It cannot be started: The MCP server's answer is too long.",
    expect.stringContaining("Unexpected content type") as string,
    expect.stringContaining("Who are you?") as string,
  ]);
});
