// Bridge that serves a stdio MCP server over streamable HTTP; messages pass unchanged.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

export type Bridge = {
  url: string;
  /** Headers of each request so far. */
  readonly seen: NodeJS.Dict<string | string[]>[];
  /** Forgets all sessions, as a restart does. */
  forget(): Promise<void>;
  close(): Promise<void>;
};

export type BridgedServer = { command: string; args: string[]; env?: Record<string, string> };

type Session = { http: StreamableHTTPServerTransport; child: StdioClientTransport };

/** One child process per session. */
export async function bridgeToHttp(server: BridgedServer): Promise<Bridge> {
  const sessions = new Map<string, Session>();
  const seen: Bridge["seen"] = [];
  const open = async (): Promise<Session> => {
    const child = new StdioClientTransport({ ...server, stderr: "ignore" });
    const http = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { http, child }),
    });
    http.onmessage = (message) => void child.send(message);
    child.onmessage = (message) => void http.send(message);
    await child.start();
    await http.start();
    return { http, child };
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.headers);
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (typeof id === "string" && known === undefined) return void response.writeHead(404).end();
    const { http } = known ?? (await open());
    await http.handleRequest(request, response);
  };
  const listener = createServer((request, response) => {
    answer(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("The bridge has no port.");
  const forget = async () => {
    const gone = [...sessions.values()];
    sessions.clear();
    await Promise.all(gone.map(({ http, child }) => Promise.all([http.close(), child.close()])));
  };
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    seen,
    forget,
    async close() {
      await forget();
      listener.closeAllConnections();
      listener.close();
    },
  };
}
