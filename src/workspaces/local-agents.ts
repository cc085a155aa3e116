/**
 * The agents of this machine's directories: each started when it is first needed, supervised until the end; or given,
 * and then only spoken to.
 */
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { AgentConnection } from "./agent-client/agent-connection.js";
import { connectGivenAgent, type GivenAgentOptions } from "./attached-agent.js";
import { startLocalAgent, type LocalAgent } from "./provisioners/local.js";

export type LocalAgentsOptions = {
  /** How to start the agent program. */
  command: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  /** The agent that somebody else runs for one of the directories, if there is one. */
  given: GivenAgentOptions | null;
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

  /**
   * The agent that serves `directory`; starts one if there is none, with `environment` beside what all have. Rejects
   * with `AgentUnreachable`.
   */
  connection(
    directory: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<AgentConnection> {
    const { given, clock } = this.#options;
    if (given?.directory === directory) return connectGivenAgent(given, clock);
    return this.#agent(directory, environment).connection();
  }

  /** Ends the directory's agent and all that it runs, if there is one of ours; resolves when they are gone. */
  async stop(directory: string): Promise<void> {
    const agent = this.#agents.get(directory);
    this.#agents.delete(directory);
    await agent?.close();
  }

  /** Whether the directory's agent has been started here, or is given. */
  isStarted(directory: string): boolean {
    return this.#options.given?.directory === directory || this.#agents.has(directory);
  }

  /** Starts the agent of a directory that is sure to be needed, so that its first use need not wait. */
  warm(directory: string): void {
    if (this.#options.given?.directory !== directory) this.#agent(directory);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#agents.values()].map((agent) => agent.close()));
  }

  #agent(directory: string, environment: Readonly<Record<string, string>> = {}): LocalAgent {
    if (this.#isClosed) throw new Error("The server is closing; no agent is started any more.");
    const known = this.#agents.get(directory);
    if (known) return known;
    const agent = startLocalAgent({ directory, ...this.#options, ownEnvironment: environment });
    this.#agents.set(directory, agent);
    return agent;
  }
}
