/**
 * How an agent that nobody can reach calls a server: it opens a WebSocket there, which then carries byte streams the
 * other way (`lib/byte-streams.ts`); on each the server speaks HTTP to the agent as it does to any other.
 */
import { createHash, createHmac } from "node:crypto";

/** Where servers take such calls. The request has `Authorization: Bearer` with the workspace's agent token. */
export const DIAL_OUT_PATH = "/agents";

/** The agent's `instanceId`. */
export const AGENT_INSTANCE_HEADER = "parley-agent-instance";
/** `AGENT_PROTOCOL_VERSION`; a server that cannot speak it answers 426. */
export const AGENT_PROTOCOL_HEADER = "parley-agent-protocol";
/** `first` or `again`: who calls for the first time since its start takes the place of another living agent. */
export const AGENT_CALL_HEADER = "parley-agent-call";

/** The server that has checked the agent and will use it says so with its first text message. */
export const REGISTERED_MESSAGE = "registered";

/** Another agent works in the workspace now, or the token is no longer its: call again, but not soon. */
export const REPLACED_CLOSE_CODE = 4409;
/** The server could not talk to the agent through its own call. */
export const UNUSABLE_CLOSE_CODE = 4422;

/** What is kept of an agent token. */
export function hashAgentToken(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}

/** The bearer token of the requests inside a call: both ends can make it, and it opens nothing else. */
export function tokenWithin(tokenHash: Buffer, instanceId: string): string {
  return createHmac("sha256", tokenHash).update(`agent ${instanceId}`).digest("hex");
}
