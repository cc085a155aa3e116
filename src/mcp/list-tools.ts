/** Asks a tool server for its tools, all pages of them; what is no tool is passed over. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { z } from "zod";
import type { JsonObject } from "../domain/common/json.js";
import type { Log } from "../lib/log.js";
import { isDeeper } from "./depth.js";
import { UNTIMED_MS } from "./deadline.js";
import type { ListedTool } from "./types.js";

/** More than any model is offered. */
const MAX_TOOLS = 200;
const MAX_PAGES = 50;
/** As JSON: a schema of which more than this goes into every model call is a mistake. */
const MAX_TOOL_BYTES = 128 * 1024;
/** Objects within objects; vendors refuse schemas long before, and JSON of any depth ends the stack of who walks it. */
const MAX_SCHEMA_DEPTH = 64;

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
  { name: server, log, signal }: { name: string; log: Log; signal: AbortSignal },
): Promise<ListedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools = new Map<string, ListedTool>();
  let cursor: string | undefined;
  let passedOver = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const listed = await client.request({ method: "tools/list", params }, pageSchema, {
      signal,
      timeout: UNTIMED_MS,
    });
    for (const value of listed.tools) {
      const tool = toolOf(value);
      if (tool === undefined) passedOver += 1;
      else if (!tools.has(tool.name)) tools.set(tool.name, tool);
    }
    const isEnd = listed.nextCursor === undefined || listed.nextCursor === cursor;
    if (isEnd || tools.size >= MAX_TOOLS) break;
    cursor = listed.nextCursor;
  }
  if (passedOver > 0)
    log.warn({ server, passedOver }, "Tools are passed over: their shape is wrong, or they are too large");
  if (tools.size > MAX_TOOLS) log.warn({ server, limit: MAX_TOOLS }, "A server has more tools than are used");
  return [...tools.values()].slice(0, MAX_TOOLS).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toolOf(value: unknown): ListedTool | undefined {
  const tool = toolSchema.safeParse(value);
  if (!tool.success || isDeeper(tool.data.inputSchema, MAX_SCHEMA_DEPTH)) return undefined;
  if (Buffer.byteLength(JSON.stringify(tool.data)) > MAX_TOOL_BYTES) return undefined;
  const { name, title, description, inputSchema } = tool.data;
  return { name, description: description ?? title ?? "", inputSchema };
}
