/** Protocol of the workspace's own MCP servers: list servers and tools, call tools. */
import { z } from "zod";
import type { JsonObject } from "../../domain/common/json.js";

/** Between a server's name and its tool's in the name of a tool. */
export const MCP_NAME_SEPARATOR = "__";

/** Longest wait of a list for servers that are starting. */
export const MAX_MCP_LIST_WAIT_MS = 30_000;
/** Longest tool call, including its server's start; HTTP clients wait for 5 minutes. */
export const MAX_MCP_CALL_MS = 270_000;

/** Far above what users allow and operators configure. */
const MAX_PERMITTED = 1_000;

/** Any JSON object. */
const jsonObjectSchema = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
);

/** As in `McpPermissions`: what the server lets the agent start. */
const mcpPermissionsSchema = z.object({
  revision: z.number().int(),
  isEverything: z.boolean(),
  hashes: z.array(z.string()).max(MAX_PERMITTED),
  hosts: z.array(z.string()).max(MAX_PERMITTED),
});

const entrySchema = z.discriminatedUnion("transport", [
  z.object({
    name: z.string(),
    transport: z.literal("stdio"),
    command: z.string(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
  }),
  z.object({
    name: z.string(),
    transport: z.enum(["http", "sse"]),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
  }),
]);

/** An entry that is not allowed yet. `linkTarget`: what the configuration file is a link to. */
const mcpRequestSchema = z.object({
  entry: entrySchema,
  configFile: z.string(),
  linkTarget: z.string().optional(),
});

export type McpRequest = z.infer<typeof mcpRequestSchema>;

/**
 * `starting`: it has not answered yet. `failed`: it cannot be started or does not answer, and is retried.
 * `invalid`: its entry is wrong. `pending`: its entry is not allowed yet, and nothing was started. A ready server may have an `error` as well, for example of a changed entry.
 */
const mcpServerSchema = z.object({
  name: z.string(),
  configFile: z.string(),
  status: z.enum(["ready", "starting", "failed", "invalid", "pending"]),
  error: z.string().optional(),
  toolCount: z.number().int(),
});
export type McpServer = z.infer<typeof mcpServerSchema>;

/** `name` is the server's name, `__`, and the tool's own. `inputSchema` is as the server wrote it. */
const mcpToolSchema = z.object({
  name: z.string(),
  serverName: z.string(),
  description: z.string(),
  inputSchema: jsonObjectSchema,
});
export type McpTool = z.infer<typeof mcpToolSchema>;

/**
 * `permissions` say what may run from now on; absent, those that the agent has stay, at first none. `refresh` lists all
 * tools again, and retries failed servers at once.
 */
export const mcpToolsRequestSchema = z.object({
  permissions: mcpPermissionsSchema.optional(),
  refresh: z.boolean().default(false),
  waitMs: z.number().int().min(0).max(MAX_MCP_LIST_WAIT_MS).default(MAX_MCP_LIST_WAIT_MS),
});

/** Tools are sorted by name. `requests` wait for permission. `revision` changes with any other field; `fileProblems` concern whole files. */
export const mcpToolsAnswerSchema = z.object({
  revision: z.string(),
  servers: z.array(mcpServerSchema),
  tools: z.array(mcpToolSchema),
  fileProblems: z.array(z.object({ path: z.string(), message: z.string() })),
  requests: z.array(mcpRequestSchema),
});
export type McpToolsAnswer = z.infer<typeof mcpToolsAnswerSchema>;

export const mcpCallRequestSchema = z.object({
  name: z.string().min(1, "A tool's name is required."),
  arguments: jsonObjectSchema.default({}),
});
export type McpCallRequest = z.infer<typeof mcpCallRequestSchema>;

/** One part of a result; `data` is base64. `unknown` is a kind that this version does not know. */
const mcpPartSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), data: z.string(), mediaType: z.string() }),
  z.object({ type: z.literal("audio"), data: z.string(), mediaType: z.string() }),
  z.object({
    type: z.literal("resource"),
    uri: z.string(),
    mediaType: z.string().optional(),
    text: z.string().optional(),
    data: z.string().optional(),
  }),
  z.object({
    type: z.literal("resource-link"),
    uri: z.string(),
    name: z.string(),
    description: z.string().optional(),
    mediaType: z.string().optional(),
  }),
  z.object({ type: z.literal("unknown"), kind: z.string() }),
]);
export type McpPart = z.infer<typeof mcpPartSchema>;

/** `isError`: the tool reports a failure; the parts contain the reason. */
export const mcpCallAnswerSchema = z.object({
  parts: z.array(mcpPartSchema),
  structuredContent: jsonObjectSchema.optional(),
  isError: z.boolean(),
});
export type McpCallAnswer = z.infer<typeof mcpCallAnswerSchema>;
