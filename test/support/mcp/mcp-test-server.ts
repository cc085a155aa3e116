// MCP server on loopback, built on the official SDK; the test sets its tools and responses.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

export type ServedCall = {
  args: Record<string, unknown>;
  /** As the request has it. */
  authorization: string | undefined;
  signal: AbortSignal;
  progress(progress: number, message: string): Promise<void>;
};
export type ServedTool = (call: ServedCall) => object | Promise<object>;

export type TestMcpServerOptions = {
  /** By name; may be changed while it runs. */
  tools?: Record<string, ServedTool>;
  /** Before a request is answered: by its method; a status refuses it. */
  before?(method: string, request: IncomingMessage): Promise<number | void> | number | void;
  port?: number;
};

export type TestMcpServer = {
  url: string;
  port: number;
  tools: Record<string, ServedTool>;
  /** Notifies all clients that the list of tools has changed. */
  notifyToolsChanged(): Promise<void>;
  /** Closes all connections and the server. */
  stop(): Promise<void>;
};

export const words = (text: string): object => ({ content: [{ type: "text", text }] });

export async function startTestMcpServer(options: TestMcpServerOptions = {}): Promise<TestMcpServer> {
  const tools = options.tools ?? { echo: ({ args }) => words(String(args["message"])) };
  const sessions = new Map<string, { server: Server; transport: StreamableHTTPServerTransport }>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const message = text === "" ? undefined : (JSON.parse(text) as { method?: string });
    const status = await options.before?.(message?.method ?? request.method ?? "", request);
    if (typeof status === "number") return void response.writeHead(status).end();
    const session = sessions.get(String(request.headers["mcp-session-id"])) ?? (await open());
    await session.transport.handleRequest(request, response, message);
  }

  async function open() {
    const server = serverOf(tools);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
    });
    await server.connect(transport);
    return { server, transport };
  }

  const http = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  }).listen(options.port ?? 0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    tools,
    async notifyToolsChanged() {
      await Promise.all([...sessions.values()].map(({ server }) => server.sendToolListChanged()));
    },
    async stop() {
      const isGone = once(http, "close");
      http.close();
      http.closeAllConnections();
      await isGone;
    },
  };
}

function serverOf(tools: Record<string, ServedTool>): Server {
  const server = new Server(
    { name: "tools of a test", version: "1" },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" as const } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const token = params._meta?.progressToken;
    const run = tools[params.name];
    if (!run) throw new Error(`There is no tool ${params.name}.`);
    const header = extra.requestInfo?.headers["authorization"];
    return {
      ...(await run({
        args: params.arguments ?? {},
        authorization: typeof header === "string" ? header : undefined,
        signal: extra.signal,
        async progress(progress, message) {
          if (token === undefined) return;
          const update = { progressToken: token, progress, message };
          await extra.sendNotification({ method: "notifications/progress", params: update });
        },
      })),
    };
  });
  return server;
}
