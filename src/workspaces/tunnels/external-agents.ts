/** Finds the agent of an external workspace, whichever replica it is connected to. */
import type { AgentLocation } from "../../domain/workspaces/workspace.js";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { AgentUnreachable, type AgentConnection } from "../agent-client/agent-connection.js";
import type { AgentConnections } from "./agent-connections.js";
import type { AgentLocations, Registrations } from "./ports.js";
import { ReplicasNotConfigured, type Relays } from "./relays.js";

/** An agent that lost its server connects to another one within seconds. */
const RETURN_WAIT_MS = 15_000;
const POLL_INTERVAL_MS = 250;

export type ExternalAgentsOptions = {
  connections: AgentConnections;
  relays: Relays;
  locations: AgentLocations;
  registrations: Registrations;
  clock: Clock;
  log: Log;
};

export class ExternalAgents {
  constructor(private readonly options: ExternalAgentsOptions) {}

  /**
   * The registered agent; one that is expected back is waited for, at most `RETURN_WAIT_MS`. Rejects with
   * `AgentUnreachable`. Call again for each turn, and when the agent does not answer.
   */
  async connection(workspaceId: string): Promise<AgentConnection> {
    const { registrations, clock, log } = this.options;
    const deadline = clock.now() + RETURN_WAIT_MS;
    let failure: unknown;
    for (;;) {
      try {
        const connection = await this.find(workspaceId);
        if (connection !== null) return connection;
      } catch (error) {
        // Its replica may have crashed a moment ago: then the agent is about to connect to another one.
        if (!(error instanceof AgentUnreachable) || error instanceof ReplicasNotConfigured) throw error;
        failure = error;
      }
      if (clock.now() >= deadline || !(await registrations.isExpected(workspaceId))) break;
      await sleep(clock, POLL_INTERVAL_MS);
    }
    if (failure instanceof AgentUnreachable) throw failure;
    log.debug({ workspaceId }, "No registered agent found for the workspace");
    throw new AgentUnreachable("The workspace's agent is not connected to this deployment.");
  }

  /**
   * The registered agent, without waiting; null when this replica knows of none. Rejects with `AgentUnreachable`. The
   * shared location takes precedence over this replica's own connection, which may have been replaced elsewhere.
   */
  async find(workspaceId: string): Promise<AgentConnection | null> {
    const { connections, locations } = this.options;
    const location = await locations.find(workspaceId);
    const own = connections.of(workspaceId);
    if (own !== undefined && (location === null || location.registrationId === own.location.registrationId)) {
      return own.connection;
    }
    return location === null ? null : this.#relayed(workspaceId, location);
  }

  async #relayed(workspaceId: string, location: AgentLocation): Promise<AgentConnection> {
    const tokenHash = await this.options.registrations.tokenHashOf(workspaceId);
    if (tokenHash === null) throw new AgentUnreachable("The workspace is not external any more.");
    return this.options.relays.connection(workspaceId, location, tokenHash);
  }
}
