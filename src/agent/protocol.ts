/**
 * What the server and a workspace agent say to each other: paths and headers here, the shapes of requests and answers
 * in `protocol/`. All that the server may import of the agent. Every route wants `Authorization: Bearer`.
 */
import { z } from "zod";

export * from "./protocol/context.js";
export * from "./protocol/files.js";
export * from "./protocol/processes.js";

/** Raised when an older server could no longer understand this agent. */
export const AGENT_PROTOCOL_VERSION = 1;

export const AGENT_PATHS = {
  health: "/v1/health",
  processes: "/v1/processes",
  processOutput: (id: string) => `/v1/processes/${encodeURIComponent(id)}/output`,
  processSignal: (id: string) => `/v1/processes/${encodeURIComponent(id)}/signal`,
  readLines: "/v1/files/read-lines",
  writeFile: "/v1/files/write",
  editFiles: "/v1/files/edit",
  context: "/v1/context",
  readSkill: "/v1/context/read-skill",
  readSkillFile: "/v1/context/read-skill-file",
} as const;

/** The chat on whose behalf a request is made. Requests without it see every chat's processes. */
export const CHAT_ID_HEADER = "parley-chat-id";
/** JSON array of the chat's ancestors, nearest first. */
export const ANCESTOR_CHAT_IDS_HEADER = "parley-ancestor-chat-ids";

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

/** The one line that an agent prints on stdout once it can be reached. */
export const listeningLineSchema = z.object({
  event: z.literal("listening"),
  url: z.url(),
  instanceId: z.string(),
});
export type ListeningLine = z.infer<typeof listeningLineSchema>;

/** `instanceId` changes with every start of the agent: processes of another instance are gone. */
export const healthSchema = z.object({
  version: z.number().int(),
  workingDirectory: z.string(),
  instanceId: z.string(),
});
export type AgentHealth = z.infer<typeof healthSchema>;
