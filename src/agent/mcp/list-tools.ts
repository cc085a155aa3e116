/** Asks a tool server for its tools, all pages of them; what is no tool is passed over. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { z } from "zod";
import type { JsonObject } from "../../domain/json.js";
import type { Log } from "../../lib/log.js";

/** Of each page; a server that needs longer only to say what it can do is ill. */
const LIST_TIMEOUT_MS = 30_000;
/** More than any model is offered. */
const MAX_TOOLS = 200;
const MAX_PAGES = 50;
/** As JSON: a schema of which more than this goes into every model call is a mistake. */
const MAX_TOOL_BYTES = 128 * 1024;

/** `name` is the tool's own, without its server's. */
export type ListedTool = { name: string; description: string; inputSchema: JsonObject };

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const toolSchema = z.object({
  name: z.string().min(1).max(256),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.custom<JsonObject>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  ),
});

/** Sorted by name, each name once. Rejects when the server does not answer. */
export async function listTools(
  client: Client,
  { name: server, log }: { name: string; log: Log },
): Promise<ListedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools = new Map<string, ListedTool>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const listed = await client.request({ method: "tools/list", params }, pageSchema, {
      timeout: LIST_TIMEOUT_MS,
    });
    for (const value of listed.tools) {
      const tool = toolOf(value);
      if (tool === undefined)
        log.warn({ server }, "A tool is passed over: its shape is wrong, or it is too large");
      else if (!tools.has(tool.name)) tools.set(tool.name, tool);
    }
    const isEnd = listed.nextCursor === undefined || listed.nextCursor === cursor;
    if (isEnd || tools.size >= MAX_TOOLS) break;
    cursor = listed.nextCursor;
  }
  if (tools.size > MAX_TOOLS) log.warn({ server, limit: MAX_TOOLS }, "A server has more tools than are used");
  return [...tools.values()].slice(0, MAX_TOOLS).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toolOf(value: unknown): ListedTool | undefined {
  const tool = toolSchema.safeParse(value);
  if (!tool.success || Buffer.byteLength(JSON.stringify(tool.data)) > MAX_TOOL_BYTES) return undefined;
  const { name, title, description, inputSchema } = tool.data;
  return { name, description: description ?? title ?? "", inputSchema };
}
