/** Lists an MCP server's tools, all pages of them; invalid ones are skipped. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { z } from "zod";
import type { JsonObject } from "../domain/common/json.js";
import type { Log } from "../lib/log.js";
import { isDeeper } from "./depth.js";
import { UNTIMED_MS } from "./deadline.js";
import type { ListedTool } from "./types.js";

/** More than any model gets. */
const MAX_TOOLS = 200;
const MAX_PAGES = 50;
/** As JSON: a larger one, which would be part of every model call, is a mistake. */
const MAX_TOOL_BYTES = 128 * 1024;
/** Vendors refuse schemas of far less depth, and recursion over deeper ones could exhaust the stack. */
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

/** Sorted by name, without duplicates. Rejects when the server does not answer. */
export async function listTools(
  client: Client,
  { name: server, log, signal }: { name: string; log: Log; signal: AbortSignal },
): Promise<ListedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools = new Map<string, ListedTool>();
  let cursor: string | undefined;
  let skipped = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const listed = await client.request({ method: "tools/list", params }, pageSchema, {
      signal,
      timeout: UNTIMED_MS,
    });
    for (const value of listed.tools) {
      const tool = toolOf(value);
      if (tool === undefined) skipped += 1;
      else if (!tools.has(tool.name)) tools.set(tool.name, tool);
    }
    const isEnd = listed.nextCursor === undefined || listed.nextCursor === cursor;
    if (isEnd || tools.size >= MAX_TOOLS) break;
    cursor = listed.nextCursor;
  }
  if (skipped > 0) log.warn({ server, skipped }, "skipped MCP tools that are malformed or too large");
  if (tools.size > MAX_TOOLS)
    log.warn({ server, limit: MAX_TOOLS }, "MCP server has too many tools; using only the first");
  return [...tools.values()].slice(0, MAX_TOOLS).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toolOf(value: unknown): ListedTool | undefined {
  const tool = toolSchema.safeParse(value);
  if (!tool.success || isDeeper(tool.data.inputSchema, MAX_SCHEMA_DEPTH)) return undefined;
  if (Buffer.byteLength(JSON.stringify(tool.data)) > MAX_TOOL_BYTES) return undefined;
  const { name, title, description, inputSchema } = tool.data;
  return { name, description: description ?? title ?? "", inputSchema };
}
