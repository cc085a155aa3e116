/**
 * Control channel: a WebSocket that the server opens and keeps open, on which the agent sends requests to the server as
 * text frames of JSON. Every server that uses an agent has one for each workspace there; the agent asks all of them.
 */
import { z } from "zod";

/** Longest message in either direction: all texts of a request at their longest, with every character escaped. */
export const MAX_CONTROL_MESSAGE_BYTES = 32 * 1024;
/** Ping interval of both ends; a connection whose previous ping was not answered is closed. */
export const CONTROL_CHANNEL_HEARTBEAT_MS = 12_000;
/** Requests on one channel that wait for their answers. */
export const MAX_PENDING_CONTROL_REQUESTS = 32;

/**
 * A request for a user name and a password for a chat's git. `site` is an origin, such as `https://github.com`.
 * `branch` and `remoteOrigin` are those of its repository; absent without a branch that has commits, or an origin.
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
  /** `reason` is a sentence for users and models. */
  z.object({ outcome: z.literal("refused"), reason: z.string() }),
]);
export type GitCredentials = z.infer<typeof credentials>;

export const gitCredentialsAnswerSchema = z.object({ id: z.number().int(), answer: credentials });
