/** An agent that somebody else runs for one directory of this machine: it was there before us, and it stays. */
import type { Clock } from "../lib/clock.js";
import {
  AgentError,
  AgentUnreachable,
  connectAgent,
  type AgentConnection,
} from "./agent-client/agent-connection.js";

export type GivenAgentOptions = {
  /** The directory that it works in. */
  directory: string;
  /** Origin only, without a path. */
  url: string;
  token: string;
};

/** Asks it who it is, since it may have been started anew. Rejects with `AgentUnreachable`. */
export async function connectGivenAgent(
  { url, token }: GivenAgentOptions,
  clock: Clock,
): Promise<AgentConnection> {
  try {
    const { instanceId } = await connectAgent({ url, token, clock }).health();
    return connectAgent({ url, token, instanceId, clock });
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    throw new AgentUnreachable(`The workspace agent at ${url} refuses us: ${error.message}`, {
      cause: error,
    });
  }
}
