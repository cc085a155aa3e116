/**
 * Protocol of the git watch: one WebSocket for each watched chat, text frames of JSON. The agent's messages between two
 * `scanned` belong together: the client applies them all at the second one.
 */
import { z } from "zod";

/** Longest message in either direction. */
export const MAX_GIT_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Longest text of one `diff`: as JSON it fits into a message with any characters. */
export const MAX_DIFF_CHUNK_CHARACTERS = 256 * 1024;
/** Longest diff of one repository; a longer one is replaced by a sentence that says so. */
export const MAX_DIFF_CHARACTERS = 3 * 1024 * 1024;
/** Repositories of one chat. */
export const MAX_WATCHED_REPOSITORIES = 32;
/** Ping interval of both ends; a connection whose previous ping was not answered is closed. */
export const GIT_HEARTBEAT_MS = 12_000;

/** From the server. `refresh`: scan all repositories now and send all states. `id` increases. */
export const gitWatchRequestSchema = z.object({
  type: z.literal("refresh"),
  id: z.number().int().min(1).optional(),
});
export type GitWatchRequest = z.infer<typeof gitWatchRequestSchema>;

const root = z.string();

/**
 * From the agent. `ready` comes first; without git nothing follows. `diff` is the next chunk of the diff of the
 * repository that follows; `repository` completes it. `scanned` ends one scan of all repositories: those not mentioned
 * are unchanged; `answers` is the latest refresh before the scan, 0 when there was none. `error`: the server sent an
 * invalid message.
 */
export const gitWatchMessageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), hasGit: z.boolean() }),
  z.object({ type: z.literal("diff"), root, text: z.string() }),
  z.object({
    type: z.literal("repository"),
    root,
    branch: z.string().nullable(),
    remoteOrigin: z.string().nullable(),
    // The newest commit, when the branch's push target is at it as well; older agents never send it.
    pushedCommit: z.string().optional(),
    isTruncated: z.boolean(),
  }),
  z.object({ type: z.literal("removed"), root }),
  z.object({ type: z.literal("scanned"), at: z.iso.datetime(), answers: z.number().int() }),
  z.object({ type: z.literal("error"), message: z.string() }),
]);
export type GitWatchMessage = z.infer<typeof gitWatchMessageSchema>;
