/** An agent for one directory of this machine that the operator runs: this server connects to it, but never starts or stops it. */
import { AGENT_PROTOCOL_VERSION } from "../agent/protocol/paths.js";
import type { Clock } from "../lib/clock.js";
import {
  AgentError,
  AgentUnreachable,
  connectAgent,
  type AgentConnection,
} from "./agent-client/agent-connection.js";

export type AttachedAgentOptions = {
  /** The agent's working directory. */
  directory: string;
  /** Origin only, without a path. */
  url: string;
  token: string;
};

/** Reads the agent's instance id each time, because it may have restarted. Rejects with `AgentUnreachable`. */
export async function connectAttachedAgent(
  { url, token }: AttachedAgentOptions,
  clock: Clock,
): Promise<AgentConnection> {
  try {
    const { instanceId, version } = await connectAgent({ url, token, clock }).health();
    // An older agent would start what nobody has allowed.
    if (version !== AGENT_PROTOCOL_VERSION) {
      throw new AgentUnreachable(`The workspace agent at ${url} is of another version of Parley. Update it.`);
    }
    return connectAgent({ url, token, instanceId, clock });
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    throw new AgentUnreachable(`The workspace agent at ${url} refuses requests: ${error.message}`, {
      cause: error,
    });
  }
}
