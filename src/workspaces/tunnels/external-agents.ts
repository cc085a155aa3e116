/** From an external workspace to its agent, whichever replica holds the agent's call. */
import type { AgentPlace } from "../../domain/workspaces/workspace.js";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { AgentUnreachable, type AgentConnection } from "../agent-client/agent-connection.js";
import type { HeldCalls } from "./agent-connections.js";
import type { Places, Registrations } from "./ports.js";
import { OutOfReach, type Relays } from "./relays.js";

/** An agent that lost its server calls another one within seconds. */
export const RETURN_WAIT_MS = 15_000;
const LOOK_INTERVAL_MS = 250;

export type ExternalAgentsOptions = {
  held: HeldCalls;
  relays: Relays;
  places: Places;
  registrations: Registrations;
  clock: Clock;
  log: Log;
};

export class ExternalAgents {
  constructor(private readonly options: ExternalAgentsOptions) {}

  /**
   * The agent that is registered now. One that is expected back is waited for, `RETURN_WAIT_MS` at most. Rejects with
   * `AgentUnreachable`. Ask again for each turn, and when the agent does not answer.
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
        // Its replica may have died a moment ago: the agent is about to call another one.
        if (!(error instanceof AgentUnreachable) || error instanceof OutOfReach) throw error;
        failure = error;
      }
      if (clock.now() >= deadline || !(await registrations.isExpected(workspaceId))) break;
      await sleep(clock, LOOK_INTERVAL_MS);
    }
    if (failure instanceof AgentUnreachable) throw failure;
    log.debug({ workspaceId }, "No agent is registered for the workspace where this replica can find it");
    throw new AgentUnreachable("The workspace's agent is not connected to this deployment.");
  }

  /**
   * The agent that is registered now, without waiting; null when there is none that this replica can find. Rejects
   * with `AgentUnreachable`. What Redis says counts before what this replica remembers: its own call may have been
   * replaced elsewhere.
   */
  async find(workspaceId: string): Promise<AgentConnection | null> {
    const { held, places } = this.options;
    const place = await places.find(workspaceId);
    const own = held.of(workspaceId);
    if (own !== undefined && (place === null || place.registrationId === own.place.registrationId)) {
      return own.connection;
    }
    return place === null ? null : this.#through(workspaceId, place);
  }

  async #through(workspaceId: string, place: AgentPlace): Promise<AgentConnection> {
    const tokenHash = await this.options.registrations.tokenHashOf(workspaceId);
    if (tokenHash === null) throw new AgentUnreachable("The workspace is not external any more.");
    return this.options.relays.connection(workspaceId, place, tokenHash);
  }
}
