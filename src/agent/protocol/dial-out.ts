/**
 * Dial-out: an agent that servers cannot reach opens a WebSocket to a server, which multiplexes byte streams in the
 * other direction (`lib/streams/byte-streams.ts`); on each the server speaks HTTP to the agent as to any other.
 */
import { createHash, createHmac } from "node:crypto";

/** The server's route for such connections. Requires `Authorization: Bearer` with the workspace's agent token. */
export const DIAL_OUT_PATH = "/agents";

/** The agent's `instanceId`. */
export const AGENT_INSTANCE_HEADER = "parley-agent-instance";
/** `AGENT_PROTOCOL_VERSION`; a server that does not support it answers 426. */
export const AGENT_PROTOCOL_HEADER = "parley-agent-protocol";
/** `first` or `again`: the first connection since an agent's start replaces another connected agent. */
export const AGENT_CALL_HEADER = "parley-agent-call";

/** The server's first text message, sent once it has checked the agent and will use it. */
export const REGISTERED_MESSAGE = "registered";

/** Another agent was registered for the workspace, or the token was revoked: reconnect, but not soon. */
export const REPLACED_CLOSE_CODE = 4409;
/** The server could not reach the agent through this connection. */
export const UNUSABLE_CLOSE_CODE = 4422;

/** The stored form of an agent token: its SHA-256 digest. */
export function hashAgentToken(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}

/** The bearer token of requests inside a connection: both ends can derive it, and it is valid nowhere else. */
export function tokenWithin(tokenHash: Buffer, instanceId: string): string {
  return createHmac("sha256", tokenHash).update(`agent ${instanceId}`).digest("hex");
}
