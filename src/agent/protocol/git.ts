/**
 * Git watch: one WebSocket for each chat that is watched, text frames of JSON. What the agent says between two `scanned`
 * belongs together: a reader takes it all over at the second one.
 */
import { z } from "zod";

/** Longest message either way. */
export const MAX_GIT_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Longest text of one `diff`: as JSON it fits into a message, whatever characters it has. */
export const MAX_DIFF_CHUNK_CHARACTERS = 256 * 1024;
/** Longest diff of one repository; instead of a longer one there is a line that says so. */
export const MAX_DIFF_CHARACTERS = 3 * 1024 * 1024;
/** Repositories of one chat. */
export const MAX_WATCHED_REPOSITORIES = 32;
/** Both ends ask for a sign of life this often and hang up when the one before was not answered. */
export const GIT_HEARTBEAT_MS = 12_000;

/** Said by the server. `refresh`: look at everything anew, now, and tell all of it. `id` grows. */
export const gitWatchRequestSchema = z.object({
  type: z.literal("refresh"),
  id: z.number().int().min(1).optional(),
});
export type GitWatchRequest = z.infer<typeof gitWatchRequestSchema>;

const root = z.string();

/**
 * Said by the agent. First `ready`; without git nothing else follows. `diff` gives the next piece of the diff whose
 * repository is told next; `repository` closes it. `scanned`: that was one look at all repositories; what was not
 * mentioned is as it was. `answers`: the latest refresh that came before the look, 0 when there was none. `error`: the server said something that has no meaning.
 */
export const gitWatchMessageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), hasGit: z.boolean() }),
  z.object({ type: z.literal("diff"), root, text: z.string() }),
  z.object({
    type: z.literal("repository"),
    root,
    branch: z.string().nullable(),
    remoteOrigin: z.string().nullable(),
    // The newest commit, when it is where the branch is pushed to, too; agents from before do not tell.
    pushedCommit: z.string().optional(),
    isTruncated: z.boolean(),
  }),
  z.object({ type: z.literal("removed"), root }),
  z.object({ type: z.literal("scanned"), at: z.iso.datetime(), answers: z.number().int() }),
  z.object({ type: z.literal("error"), message: z.string() }),
]);
export type GitWatchMessage = z.infer<typeof gitWatchMessageSchema>;
