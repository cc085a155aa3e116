/**
 * The line on which an agent asks its server: a WebSocket that the server opens and keeps, text frames of JSON. Every
 * server that uses an agent has one for each workspace there; the agent asks all of them.
 */
import { z } from "zod";

/** Longest message either way: all of a question's texts at their longest, with every character escaped. */
export const MAX_CONTROL_MESSAGE_BYTES = 32 * 1024;
/** Both ends ask for a sign of life this often and hang up when the one before was not answered. */
export const CONTROL_CHANNEL_HEARTBEAT_MS = 12_000;
/** Questions on one line that wait for their answers. */
export const MAX_PENDING_CONTROL_REQUESTS = 32;

/**
 * A chat's git needs a user name and a password. `site` is an origin, such as `https://github.com`. `branch` and
 * `remoteOrigin` are of the repository it works in, when it is on a branch that has commits, and has an origin.
 */
export const gitCredentialsRequestSchema = z.object({
  type: z.literal("git-credentials"),
  id: z.number().int(),
  chatId: z.string().max(128),
  site: z.string().max(512),
  branch: z.string().max(1_024).optional(),
  remoteOrigin: z.string().max(2_048).optional(),
});
export type GitCredentialsRequest = Omit<z.infer<typeof gitCredentialsRequestSchema>, "type" | "id">;

const credentials = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("given"), username: z.string(), password: z.string() }),
  /** `reason` is a sentence for people and models. */
  z.object({ outcome: z.literal("refused"), reason: z.string() }),
]);
export type GitCredentials = z.infer<typeof credentials>;

export const gitCredentialsAnswerSchema = z.object({ id: z.number().int(), answer: credentials });
