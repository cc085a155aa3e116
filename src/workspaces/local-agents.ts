/**
 * The agents of this machine's directories. Each is started when it is first needed and supervised until it is stopped;
 * an attached agent is only connected to.
 */
import type { Clock } from "../lib/clock.js";
import { KeyedSupervisor } from "../lib/concurrency/keyed-supervisor.js";
import type { Log } from "../lib/log.js";
import type { AgentConnection } from "./agent-client/agent-connection.js";
import { connectAttachedAgent, type AttachedAgentOptions } from "./attached-agent.js";
import { startLocalAgent, type LocalAgent } from "./provisioners/local.js";

export type LocalAgentsOptions = {
  /** How to start the agent program. */
  command: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  /** What agents and commands inherit of it besides the usual variables. */
  commandVariables?: readonly string[];
  /** The agent that the operator runs for one of the directories; null = none. */
  attached: AttachedAgentOptions | null;
  log: Log;
  clock: Clock;
};

export class LocalAgents {
  /** By directory. */
  readonly #agents = new KeyedSupervisor<LocalAgent>();
  readonly #options: LocalAgentsOptions;

  constructor(options: LocalAgentsOptions) {
    this.#options = options;
  }

  /**
   * The agent of `directory`, started if there is none, then with `environment` in addition to what all agents have.
   * Rejects with `AgentUnreachable`.
   */
  connection(
    directory: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<AgentConnection> {
    const { attached, clock } = this.#options;
    if (attached?.directory === directory) return connectAttachedAgent(attached, clock);
    return this.#ensure(directory, environment).connection();
  }

  /** Ends the directory's agent and all that it runs, unless it is attached; resolves when they are gone. */
  stop(directory: string): Promise<void> {
    return this.#agents.stop(directory);
  }

  /** Whether the directory's agent has been started here, or is attached. */
  isStarted(directory: string): boolean {
    return this.#options.attached?.directory === directory || this.#agents.get(directory) !== undefined;
  }

  /** Starts the directory's agent in advance, so that its first use need not wait. */
  warm(directory: string): void {
    if (this.#options.attached?.directory !== directory) this.#ensure(directory);
  }

  /** Ends all agents that were started here; resolves when they are gone. */
  close(): Promise<void> {
    return this.#agents.close();
  }

  #ensure(directory: string, environment: Readonly<Record<string, string>> = {}): LocalAgent {
    if (this.#agents.isClosed) throw new Error("The server is shutting down; no agent is started any more.");
    return this.#agents.ensure(directory, () =>
      startLocalAgent({ directory, ...this.#options, ownEnvironment: environment }),
    );
  }
}
