/** The agents of this machine's directories: each started when it is first needed, supervised until the end. */
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { AgentConnection } from "./agent-connection.js";
import { startLocalAgent, type LocalAgent } from "./provisioners/local.js";

export type LocalAgentsOptions = {
  /** How to start the agent program. */
  command: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  log: Log;
  clock: Clock;
};

export class LocalAgents {
  readonly #agents = new Map<string, LocalAgent>();
  readonly #options: LocalAgentsOptions;
  #isClosed = false;

  constructor(options: LocalAgentsOptions) {
    this.#options = options;
  }

  /** The agent that serves `directory`; starts one if there is none. Rejects with `AgentUnreachable`. */
  connection(directory: string): Promise<AgentConnection> {
    return this.#agent(directory).connection();
  }

  /** Starts the agent of a directory that is sure to be needed, so that its first use need not wait. */
  warm(directory: string): void {
    this.#agent(directory);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#agents.values()].map((agent) => agent.close()));
  }

  #agent(directory: string): LocalAgent {
    if (this.#isClosed) throw new Error("The server is closing; no agent is started any more.");
    const known = this.#agents.get(directory);
    if (known) return known;
    const agent = startLocalAgent({ directory, ...this.#options });
    this.#agents.set(directory, agent);
    return agent;
  }
}
