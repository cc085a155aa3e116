/**
 * What the server and a workspace agent say to each other: paths, headers, and the shape of every request and
 * answer. The only file of the agent that the server may import. Every route wants `Authorization: Bearer`.
 */
import { z } from "zod";

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

/** Longest single wait for a process's end, 5 minutes; ask again to wait longer. */
export const MAX_OUTPUT_WAIT_MS = 300_000;
/** Linux refuses a single argument of 128 KiB or more. */
export const MAX_COMMAND_BYTES = 128 * 1024 - 1;
/** Largest JSON body of a write or an edit. */
export const MAX_FILE_BODY_BYTES = 16 * 1024 * 1024;
/** Largest JSON body of any other request. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Largest file that a write or an edit may leave behind, and the largest that can be edited. */
export const MAX_WRITE_BYTES = 10 * 1024 * 1024;
/** Files of one edit, and edits of one file. */
export const MAX_EDITED_FILES = 200;
export const MAX_EDITS_PER_FILE = 500;

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

const hasNoNul = (text: string) => !text.includes("\0");
const pathSchema = z
  .string()
  .min(1, "A path is required.")
  .refine(hasNoNul, "A path must not contain a NUL character.");

/** `sh -c command`. The same `idempotencyKey` in the same chat attaches instead of starting twice. */
export const startProcessRequestSchema = z.object({
  command: z
    .string()
    .refine((command) => command.trim() !== "", "A command is required.")
    .refine(hasNoNul, "A command must not contain a NUL character.")
    .refine((command) => Buffer.byteLength(command) <= MAX_COMMAND_BYTES, {
      message: `A command may have at most ${MAX_COMMAND_BYTES} bytes; write a script file and run that.`,
    }),
  workdir: pathSchema.optional(),
  env: z
    .record(z.string().regex(/^[^=\0]+$/), z.string().refine(hasNoNul, "A value must not contain a NUL."))
    .optional(),
  /** A label for lists; foreground and background commands run alike. */
  background: z.boolean().optional(),
  idempotencyKey: z.string().min(1).max(512).optional(),
});
export type StartProcessRequest = z.infer<typeof startProcessRequestSchema>;

/** `started`: this request ran the command. `attached`: an earlier request with the same key did. */
export const startProcessAnswerSchema = z.object({
  id: z.string(),
  started: z.boolean(),
  attached: z.boolean(),
});
export type StartProcessAnswer = z.infer<typeof startProcessAnswerSchema>;

/** How much of the output was kept: `originalBytes` is always `retainedBytes + omittedBytes`. */
export const truncationSchema = z.object({
  originalBytes: z.number().int(),
  retainedBytes: z.number().int(),
  omittedBytes: z.number().int(),
  strategy: z.literal("head_tail"),
});
export type Truncation = z.infer<typeof truncationSchema>;

export const processOutputQuerySchema = z.object({
  wait: z.enum(["true", "false"]).optional(),
  timeoutMs: z.coerce.number().int().min(0).optional(),
});

/**
 * stdout and stderr as they came. `exitCode` is there once it ended, -1 when a signal ended it (then named).
 * A process that is not `running` has said everything it had to say.
 */
export const processOutputSchema = z.object({
  output: z.string(),
  truncation: truncationSchema.optional(),
  running: z.boolean(),
  exitCode: z.number().int().optional(),
  signal: z.string().optional(),
});
export type ProcessOutput = z.infer<typeof processOutputSchema>;

/** Times are ISO 8601 in UTC. */
export const processSummarySchema = z.object({
  id: z.string(),
  command: z.string(),
  workdir: z.string(),
  background: z.boolean(),
  running: z.boolean(),
  exitCode: z.number().int().optional(),
  signal: z.string().optional(),
  startedAt: z.string(),
  exitedAt: z.string().optional(),
});
export type ProcessSummary = z.infer<typeof processSummarySchema>;

/** Running ones first, then the newest; `total` counts also those that did not fit. */
export const processListSchema = z.object({
  processes: z.array(processSummarySchema),
  total: z.number().int(),
});
export type ProcessList = z.infer<typeof processListSchema>;

/** `terminate` is SIGTERM, `kill` is SIGKILL; both reach the whole process group. */
export const signalProcessRequestSchema = z.object({ signal: z.enum(["terminate", "kill"]) });
export type SignalProcessRequest = z.infer<typeof signalProcessRequestSchema>;
export const signalProcessAnswerSchema = z.object({ message: z.string() });

/** `offset` is the first line wanted, counted from 1; `limit` a number of lines. */
export const readLinesRequestSchema = z.object({
  path: pathSchema,
  offset: z.number().int().min(1).optional(),
  limit: z.number().int().min(1).optional(),
});
export type ReadLinesRequest = z.infer<typeof readLinesRequestSchema>;

/** Each row of `content` is the line's number, a tab and its text. `error` is made for a model to read. */
export const readLinesAnswerSchema = z.discriminatedUnion("success", [
  z.object({
    success: z.literal(true),
    fileSize: z.number().int(),
    totalLines: z.number().int(),
    linesRead: z.number().int(),
    content: z.string(),
  }),
  z.object({ success: z.literal(false), error: z.string() }),
]);
export type ReadLinesAnswer = z.infer<typeof readLinesAnswerSchema>;

export const writeFileRequestSchema = z.object({ path: pathSchema, content: z.string() });
export type WriteFileRequest = z.infer<typeof writeFileRequestSchema>;
/** `path` is where the content went, all links followed. */
export const writeFileAnswerSchema = z.object({ path: z.string(), bytes: z.number().int() });
export type WriteFileAnswer = z.infer<typeof writeFileAnswerSchema>;

/** Edits of one file happen in order, each on the result of the one before. */
export const editFilesRequestSchema = z.object({
  files: z
    .array(
      z.object({
        path: pathSchema,
        edits: z
          .array(z.object({ oldText: z.string(), newText: z.string(), replaceAll: z.boolean().optional() }))
          .min(1, "At least one edit is required.")
          .max(MAX_EDITS_PER_FILE),
      }),
    )
    .min(1, "At least one file is required.")
    .max(MAX_EDITED_FILES),
});
export type EditFilesRequest = z.infer<typeof editFilesRequestSchema>;

/** One entry for each different path, as the caller wrote it, in the order of first mention. */
export const editFilesAnswerSchema = z.object({
  files: z.array(z.object({ path: z.string(), replacements: z.number().int() })),
});
export type EditFilesAnswer = z.infer<typeof editFilesAnswerSchema>;

/** `content` is fit for a prompt: clean and at most 64 KiB of the file, of which `isTruncated` says there is more. */
export const instructionFileSchema = z.object({
  path: z.string(),
  content: z.string(),
  isTruncated: z.boolean(),
});
export type InstructionFile = z.infer<typeof instructionFileSchema>;

/** `description` is one line, perhaps empty; `directory` holds the skill's files. */
export const skillSchema = z.object({ name: z.string(), description: z.string(), directory: z.string() });
export type Skill = z.infer<typeof skillSchema>;

/** What a model should know of the workspace beforehand. Instruction files are in the order of their weight, last wins. */
export const workspaceContextSchema = z.object({
  operatingSystem: z.string(),
  workingDirectory: z.string(),
  instructionFiles: z.array(instructionFileSchema),
  skills: z.array(skillSchema),
});
export type WorkspaceContext = z.infer<typeof workspaceContextSchema>;

/** A name is also a folder's name: it must not lead anywhere else. */
const skillNameSchema = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "A skill's name has small letters, digits and single hyphens.");

export const readSkillRequestSchema = z.object({ name: skillNameSchema });
export type ReadSkillRequest = z.infer<typeof readSkillRequestSchema>;

/** `body` is what the skill teaches, cut at 64 KiB; `files` are what lies beside it, folders ending with `/`. */
export const readSkillAnswerSchema = z.object({
  name: z.string(),
  directory: z.string(),
  body: z.string(),
  isTruncated: z.boolean(),
  files: z.array(z.string()),
});
export type ReadSkillAnswer = z.infer<typeof readSkillAnswerSchema>;

const isPlainPath = (path: string) =>
  !path.startsWith("/") && path.split("/").every((part) => part === "." || !part.startsWith("."));

export const readSkillFileRequestSchema = z.object({
  name: skillNameSchema,
  path: pathSchema.refine(isPlainPath, {
    message: "A path must be relative to the skill's directory, without `..` and without hidden names.",
  }),
});
export type ReadSkillFileRequest = z.infer<typeof readSkillFileRequestSchema>;

/** The beginning of the file: `isTruncated` when it has more than 512 KiB. */
export const readSkillFileAnswerSchema = z.object({ content: z.string(), isTruncated: z.boolean() });
export type ReadSkillFileAnswer = z.infer<typeof readSkillFileAnswerSchema>;
