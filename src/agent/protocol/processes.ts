/** Protocol of commands: start, list, wait, signal. */
import { z } from "zod";
import { hasNoNul, pathSchema } from "./text.js";

/** Longest single wait for a process's exit, 5 minutes; repeat the request to wait longer. */
export const MAX_OUTPUT_WAIT_MS = 300_000;
/** Linux refuses a single argument of 128 KiB or more. */
export const MAX_COMMAND_BYTES = 128 * 1024 - 1;

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

/** How much of the output was retained: `originalBytes` is always `retainedBytes + omittedBytes`. */
const truncationSchema = z.object({
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
 * stdout and stderr in the order of writing. `exitCode` is present once it has exited, -1 when a signal ended it (then
 * named). The output of a process that is not `running` is complete.
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
const processSummarySchema = z.object({
  id: z.string(),
  command: z.string(),
  workdir: z.string(),
  background: z.boolean(),
  running: z.boolean(),
  exitCode: z.number().int().optional(),
  signal: z.string().optional(),
  startedAt: z.string(),
  exitedAt: z.string().optional(),
  /** It has exited, but its children run on in its process group, where signals reach them. */
  childrenRunning: z.boolean().optional(),
});
export type ProcessSummary = z.infer<typeof processSummarySchema>;

/** Running ones first, then the newest; `total` includes those that did not fit. */
export const processListSchema = z.object({
  processes: z.array(processSummarySchema),
  total: z.number().int(),
});
export type ProcessList = z.infer<typeof processListSchema>;

/** `terminate` is SIGTERM, `kill` is SIGKILL; both reach the whole process group. */
export const signalProcessRequestSchema = z.object({ signal: z.enum(["terminate", "kill"]) });
export type SignalProcessRequest = z.infer<typeof signalProcessRequestSchema>;
export const signalProcessAnswerSchema = z.object({ message: z.string() });
