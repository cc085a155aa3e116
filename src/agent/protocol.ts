/**
 * What the server and a workspace agent say to each other: paths and headers here, the shapes of requests and answers
 * in `protocol/`. All that the server may import of the agent. Every route wants `Authorization: Bearer`.
 */
import { z } from "zod";

export * from "./protocol/context.js";
export * from "./protocol/dial-out.js";
export * from "./protocol/files.js";
export * from "./protocol/git.js";
export * from "./protocol/mcp.js";
export * from "./protocol/process-stream.js";
export * from "./protocol/processes.js";
export * from "./protocol/search.js";
export * from "./protocol/server-line.js";

/** Raised when an older server could no longer understand this agent. */
export const AGENT_PROTOCOL_VERSION = 1;

export const AGENT_PATHS = {
  health: "/v1/health",
  processes: "/v1/processes",
  processOutput: (id: string) => `/v1/processes/${encodeURIComponent(id)}/output`,
  processStream: (id: string) => `/v1/processes/${encodeURIComponent(id)}/stream`,
  processSignal: (id: string) => `/v1/processes/${encodeURIComponent(id)}/signal`,
  readLines: "/v1/files/read-lines",
  readBytes: "/v1/files/read-bytes",
  listDirectory: "/v1/files/list-directory",
  resolvePath: "/v1/files/resolve-path",
  writeFile: "/v1/files/write",
  editFiles: "/v1/files/edit",
  findFiles: "/v1/files/find",
  searchFiles: "/v1/files/search",
  /** A WebSocket; see `protocol/git.ts`. */
  gitWatch: "/v1/git/watch",
  /** A WebSocket; see `protocol/server-line.ts`. */
  serverLine: "/v1/server-line",
  metrics: "/metrics",
  context: "/v1/context",
  readSkill: "/v1/context/read-skill",
  readSkillFile: "/v1/context/read-skill-file",
  mcpTools: "/v1/mcp/tools",
  mcpCall: "/v1/mcp/call",
} as const;

/** Subjects that this version of the agent can be asked about, for example `files`. */
export const AGENT_CAPABILITIES: string[] = [...new Set(Object.values(AGENT_PATHS).flatMap(subjectOf))];

/** `/v1/files/write` is about `files`; the paths of single things are below those of their subject. */
function subjectOf(path: unknown): string[] {
  const subject = typeof path === "string" ? /^\/v1\/([a-z-]+)/.exec(path)?.[1] : undefined;
  return subject === undefined || subject === "health" ? [] : [subject];
}

/** The chat on whose behalf a request is made. Requests without it see every chat's processes. */
export const CHAT_ID_HEADER = "parley-chat-id";
/** JSON array of the chat's ancestors, nearest first. */
export const ANCESTOR_CHAT_IDS_HEADER = "parley-ancestor-chat-ids";

/** The user whose chat it is, for limits that all chats of a user share. Without it only the chat's own counts. */
export const USER_ID_HEADER = "parley-user-id";

/** Largest JSON body of any other request. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Ids travel in headers, so they are short and plain. */
export const chatIdSchema = z.string().regex(/^[A-Za-z0-9_:-]{1,128}$/);
export const ancestorChatIdsSchema = z.array(chatIdSchema).max(64);

/** Every answer with a status of 400 or more. `field` names the part of the request that is wrong. */
export const agentErrorSchema = z.object({
  message: z.string(),
  detail: z.string().optional(),
  field: z.string().optional(),
});
export type AgentErrorBody = z.infer<typeof agentErrorSchema>;

/** The one line that an agent that listens prints on stdout once it can be reached. */
export const listeningLineSchema = z.object({
  event: z.literal("listening"),
  url: z.url(),
  instanceId: z.string(),
});
export type ListeningLine = z.infer<typeof listeningLineSchema>;
/** The line that an agent that calls servers prints on stdout each time that one has taken it. */
export type RegisteredLine = { event: "registered"; server: string; instanceId: string };

/**
 * `instanceId` changes with every start of the agent: processes of another instance are gone. `version` is the
 * protocol's, `programVersion` the agent's own; `capabilities` are the subjects that it can be asked about.
 */
export const healthSchema = z.object({
  version: z.number().int(),
  programVersion: z.string(),
  capabilities: z.array(z.string()),
  workingDirectory: z.string(),
  instanceId: z.string(),
});
export type AgentHealth = z.infer<typeof healthSchema>;
