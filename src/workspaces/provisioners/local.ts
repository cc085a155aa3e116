/**
 * Supervises the workspace agent of a local directory.
 * States: starting → live → (it exited) waiting → starting …, and from any of them closed, by `close` alone.
 */
import { allowedEnvironment } from "../../lib/allowed-environment.js";
import type { Clock } from "../../lib/clock.js";
import { SupervisedTask, type AttemptEnd } from "../../lib/concurrency/supervised-task.js";
import type { Log } from "../../lib/log.js";
import { AgentUnreachable, connectAgent, type AgentConnection } from "../agent-client/agent-connection.js";
import { spawnAgent, type AgentProcess } from "./agent-process.js";

/** The delay doubles with each restart, so that a broken agent does not use up the machine. */
const FIRST_RESTART_DELAY_MS = 250;
const MAX_RESTART_DELAY_MS = 10_000;
/** An agent that ran this long was healthy: the delay starts over. */
const STABLE_AFTER_MS = 30_000;
/** The longest that a caller waits for an agent that is starting: one start and a little of the next. */
export const CONNECTION_WAIT_MS = 15_000;

/** Where agents look for instructions, skills and MCP servers: set by the operator for all agents. */
const AGENT_VARIABLE_PATTERN = /^PARLEY_AGENT_(?:INSTRUCTIONS|SKILLS?|MCP|COMMAND|MAX_PROCESSES|HIDDEN)_/;

export type LocalAgentOptions = {
  /** Absolute; must exist. */
  directory: string;
  /** How to start the agent program, for example `[process.execPath, "server.js", "agent"]`. */
  command: readonly string[];
  /** The server's own environment; the agent gets the allowed part of it. */
  environment: Readonly<Record<string, string | undefined>>;
  /** What agents and commands inherit of it besides; see `allowedEnvironment`. */
  commandVariables?: readonly string[];
  /** For this directory's agent and commands only, in addition to the inherited variables. */
  ownEnvironment?: Readonly<Record<string, string>>;
  log: Log;
  clock: Clock;
};

export type LocalAgent = {
  /**
   * The live agent, waited for at most `CONNECTION_WAIT_MS`; rejects with `AgentUnreachable`. Call again for each use: a
   * restarted agent has another connection.
   */
  connection(): Promise<AgentConnection>;
  /** Resolves when the agent and all that it runs are gone, and no restart follows. Never rejects. */
  readonly ended: Promise<void>;
  /** Ends the agent and all that it runs; resolves as `ended`. */
  close(): Promise<void>;
};

type Waiter = { resolve(connection: AgentConnection): void; reject(error: AgentUnreachable): void };

/** Starts the agent at once, in the background. Never throws. */
export function startLocalAgent(options: LocalAgentOptions): LocalAgent {
  return new SupervisedAgent(options);
}

/**
 * The environment of a local agent: the allowed part of the server's, the settings that the operator makes for all
 * agents, and the directory's own variables, which its commands inherit as well.
 */
export function localAgentEnvironment(
  options: Pick<LocalAgentOptions, "environment" | "commandVariables" | "ownEnvironment">,
): Record<string, string> {
  const { environment, commandVariables = [], ownEnvironment = {} } = options;
  const settings = Object.entries(environment).flatMap(([name, value]) =>
    AGENT_VARIABLE_PATTERN.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return {
    ...allowedEnvironment(environment, commandVariables),
    ...Object.fromEntries(settings),
    ...ownEnvironment,
    PARLEY_COMMAND_ENV: [...commandVariables, ...Object.keys(ownEnvironment)].join(","),
  };
}

class SupervisedAgent implements LocalAgent {
  readonly #waiters = new Set<Waiter>();
  readonly #task: SupervisedTask;
  #live: AgentConnection | undefined;
  #lastFailure: unknown;
  #isClosed = false;

  constructor(private readonly options: LocalAgentOptions) {
    const { clock, log } = options;
    this.#task = new SupervisedTask({
      clock,
      random: () => 0,
      firstDelayMs: FIRST_RESTART_DELAY_MS,
      maxDelayMs: MAX_RESTART_DELAY_MS,
      attempt: (signal) => this.#run(signal),
      onRetry: (reason, delayMs) => {
        this.#lastFailure = reason;
        log.warn({ err: reason, restartInMs: delayMs }, "workspace agent exited; restarting");
      },
    });
  }

  get ended(): Promise<void> {
    return this.#task.ended;
  }

  connection(): Promise<AgentConnection> {
    if (this.#live !== undefined) return Promise.resolve(this.#live);
    if (this.#isClosed) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      const settle = () => {
        cancelTimeout();
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        resolve: (connection) => (settle(), resolve(connection)),
        reject: (error) => (settle(), reject(error)),
      };
      const cancelTimeout = this.options.clock.after(CONNECTION_WAIT_MS, () =>
        waiter.reject(
          new AgentUnreachable("The workspace agent is not running; it is being restarted.", {
            cause: this.#lastFailure,
          }),
        ),
      );
      this.#waiters.add(waiter);
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#task.close();
    for (const waiter of [...this.#waiters]) waiter.reject(closed());
    return this.ended;
  }

  /** Starts the agent; resolves when it is gone, with the reason, also when `signal` made it stop. */
  async #run(signal: AbortSignal): Promise<AttemptEnd> {
    const { clock } = this.options;
    const startedAtMs = clock.now();
    const reason = await this.#runUntilExit(signal);
    return { wasHealthy: clock.now() - startedAtMs >= STABLE_AFTER_MS, reason };
  }

  async #runUntilExit(signal: AbortSignal): Promise<unknown> {
    let agent: AgentProcess | undefined;
    try {
      agent = this.#spawn();
      const { url, token, instanceId } = await unlessAborted(agent.listening, signal);
      this.#setLive(connectAgent({ url, token, instanceId, clock: this.options.clock }));
      const { reason, lastOutput } = await unlessAborted(agent.ended, signal);
      return new Error(`The workspace agent exited (${reason}). ${lastOutput}`.trim());
    } catch (error) {
      return error;
    } finally {
      this.#live = undefined;
      await agent?.stop();
    }
  }

  #spawn(): AgentProcess {
    const { command, directory, clock, log } = this.options;
    const environment = localAgentEnvironment(this.options);
    return spawnAgent({ command, directory, environment, logLevel: log.level, clock });
  }

  #setLive(connection: AgentConnection): void {
    this.#live = connection;
    this.options.log.info({ directory: this.options.directory }, "workspace agent running");
    for (const waiter of [...this.#waiters]) waiter.resolve(connection);
  }
}

function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(closed());
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function closed(): AgentUnreachable {
  return new AgentUnreachable("The workspace agent is shut down.");
}
