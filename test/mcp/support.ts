// Fixtures for tests of the MCP client: the official server as a separate program, raw servers, and a connected client.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { connectMcp, type ConnectOptions } from "../../src/mcp/client.js";
import type { McpClient, McpClientDependencies, McpPart } from "../../src/mcp/types.js";
import { freePort } from "../support/network/free-port.js";

const EVERYTHING = resolve(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
);

export type StartedServer = { url: URL; stop(): Promise<void> };

/** The official "everything" server in its own process; resolves when it is ready. */
export async function startEverything(
  kind: "streamable_http" | "sse",
  port?: number,
): Promise<StartedServer> {
  const usedPort = port ?? (await freePort());
  const [mode, path] = kind === "sse" ? ["sse", "/sse"] : ["streamableHttp", "/mcp"];
  const child = spawn(process.execPath, [EVERYTHING, mode], {
    env: { ...process.env, PORT: String(usedPort) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  await new Promise<void>((ready, fail) => {
    let words = "";
    // Read to its end: a server whose output is not read would block.
    child.stderr.on("data", (chunk: Buffer) => {
      words += chunk.toString();
      if (/listening|running on port/i.test(words)) ready();
    });
    child.once("exit", () => fail(new Error(`The server did not start: ${words}`)));
  });
  return {
    url: new URL(`http://127.0.0.1:${usedPort}${path}`),
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

export type RawServer = { url: URL; close(): Promise<void> };

/** A server with scripted answers, which need not follow any protocol. */
export async function startRaw(listener: RequestListener): Promise<RawServer> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export type Message = { jsonrpc: "2.0"; id?: number; method?: string; params?: Record<string, unknown> };

/** The JSON-RPC message of a request; undefined when it has none. */
export async function messageOf(request: IncomingMessage): Promise<Message | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? undefined : (JSON.parse(text) as Message);
}

/** A client connected without the address guard, since the server listens on loopback. */
export function connect(
  url: URL,
  parts: Partial<McpClientDependencies> = {},
  options: Partial<ConnectOptions> = {},
): Promise<McpClient> {
  return connectMcp(
    {
      name: "test",
      url,
      transport: url.pathname === "/sse" ? "sse" : "streamable_http",
      headers: {},
      renewHeaders: () => Promise.resolve(null),
      fetch,
      clock: systemClock,
      log: createLog("silent"),
      ...parts,
    },
    { timeoutMs: 20_000, ...options },
  );
}

/** A signal that is never aborted. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

export function textOf(parts: readonly McpPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}
