// MCP server on loopback that counts list requests; the test sets its tools and responses.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

export type ListingServer = {
  url: string;
  /** Names of its tools. */
  tools: string[];
  /** `deaf`: requests never get a response. `closed`: every response is 401. */
  mood: "fine" | "deaf" | "closed" | "broken";
  /** The `x-api-key` of each list request. */
  readonly listedFor: (string | undefined)[];
  close(): Promise<void>;
};

export async function startListingServer(): Promise<ListingServer> {
  const listener = createServer((request, response) => void answer(request, response));
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  const shown: ListingServer = {
    url: `http://127.0.0.1:${address.port}/mcp`,
    tools: ["read", "write"],
    mood: "fine",
    listedFor: [],
    async close() {
      listener.closeAllConnections();
      listener.close();
      await once(listener, "close");
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (shown.mood === "deaf") return;
    if (shown.mood === "closed") return void response.writeHead(401).end();
    if (shown.mood === "broken") return void response.writeHead(500).end("out of order");
    const server = new Server({ name: "listing", version: "3.2.1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => {
      shown.listedFor.push(request.headers["x-api-key"]?.toString());
      const tools = shown.tools.map((name) => ({
        name,
        description: `Does ${name}.`,
        inputSchema: { type: "object" as const, properties: {} },
      }));
      return { tools };
    });
    // Without sessions: each request is served by itself.
    const http = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.once("close", () => void server.close());
    await server.connect(http as Parameters<Server["connect"]>[0]);
    await http.handleRequest(request, response);
  }

  return shown;
}
