/**
 * Keeps one workspace agent running for a local directory.
 * States: starting → live → (it died) waiting → starting …, and from any of them closed, by `close` alone.
 */
import { sleep, type Clock } from "../../lib/clock.js";
import { runDetached } from "../../lib/run-context.js";
import type { Log } from "../../lib/log.js";
import { AgentUnreachable, connectAgent, type AgentConnection } from "../agent-client/agent-connection.js";
import { spawnAgent, type AgentProcess } from "./agent-process.js";

/** The first restart comes soon, later ones twice as late each, so that a broken agent does not eat the machine. */
const FIRST_RESTART_DELAY_MS = 250;
const MAX_RESTART_DELAY_MS = 10_000;
/** An agent that lived this long was well: its death counts as the first. */
const STABLE_AFTER_MS = 30_000;
/** Longest wait of a caller for an agent that is starting: one start and a little of the next. */
export const CONNECTION_WAIT_MS = 15_000;

/** Belong to the server: commands that a model runs must not find its keys or its database. */
const SERVER_VARIABLES = new Set([
  "DATABASE_URL",
  "REDIS_URL",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "GEMINI_API_KEY",
  "GOOGLE_GEMINI_BASE_URL",
  "AZURE_OPENAI_API_KEY",
  "AZURE_OPENAI_ENDPOINT",
  "AWS_BEARER_TOKEN_BEDROCK",
  "BEDROCK_BASE_URL",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_SERVICE_NAME",
  "NODE_ENV",
]);
/** Of `npm start`, among them the server's own prefix and config, which would mislead any npm that runs below it. */
const SERVER_VARIABLE_PATTERN = /^(?:PARLEY_|npm_)/i;
/** Where an agent looks for instructions, skills and tool servers: set for all agents by who runs the server. */
const AGENT_VARIABLE_PATTERN = /^PARLEY_AGENT_(?:INSTRUCTIONS|SKILLS?|MCP|COMMAND|MAX_PROCESSES)_/;

export type LocalAgentOptions = {
  /** Absolute; must exist. */
  directory: string;
  /** How to start the agent program, for example `[process.execPath, "server.js", "agent"]`. */
  command: readonly string[];
  /** The server's own environment; what is the server's alone is taken out. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Of this directory alone, beside what is inherited. */
  ownEnvironment?: Readonly<Record<string, string>>;
  log: Log;
  clock: Clock;
};

export type LocalAgent = {
  /** The live agent, after at most `CONNECTION_WAIT_MS`; rejects with `AgentUnreachable`. Ask again for each use. */
  connection(): Promise<AgentConnection>;
  /** Ends the agent and all that it runs; resolves when they are gone. */
  close(): Promise<void>;
};

type Waiter = { resolve(connection: AgentConnection): void; reject(error: AgentUnreachable): void };

/** Starts at once, in the background; never throws. */
export function startLocalAgent(options: LocalAgentOptions): LocalAgent {
  const keeper = new AgentKeeper(options);
  return { connection: () => keeper.connection(), close: () => keeper.close() };
}

/** What a local agent inherits of the server's environment. */
export function localAgentEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) =>
        AGENT_VARIABLE_PATTERN.test(name) ||
        (!SERVER_VARIABLES.has(name) && !SERVER_VARIABLE_PATTERN.test(name)),
    ),
  );
}

class AgentKeeper {
  readonly #closing = new AbortController();
  readonly #waiters = new Set<Waiter>();
  readonly #keeping: Promise<void>;
  #live: AgentConnection | undefined;
  #lastFailure: unknown;

  constructor(private readonly options: LocalAgentOptions) {
    // It serves whoever comes, long after the turn that needs it first.
    this.#keeping = runDetached(() => this.#keepRunning());
  }

  connection(): Promise<AgentConnection> {
    if (this.#live !== undefined) return Promise.resolve(this.#live);
    if (this.#closing.signal.aborted) return Promise.reject(closed());
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

  async close(): Promise<void> {
    this.#closing.abort();
    for (const waiter of [...this.#waiters]) waiter.reject(closed());
    await this.#keeping;
  }

  async #keepRunning(): Promise<void> {
    const { clock, log } = this.options;
    let delayMs = FIRST_RESTART_DELAY_MS;
    while (!this.#closing.signal.aborted) {
      const startedAtMs = clock.now();
      const failure = await this.#runOnce();
      if (this.#closing.signal.aborted) return;
      this.#lastFailure = failure;
      if (clock.now() - startedAtMs >= STABLE_AFTER_MS) delayMs = FIRST_RESTART_DELAY_MS;
      log.warn(
        { err: failure, restartInMs: delayMs },
        "The workspace agent is not running and will be restarted",
      );
      await sleep(clock, delayMs, this.#closing.signal);
      delayMs = Math.min(delayMs * 2, MAX_RESTART_DELAY_MS);
    }
  }

  /** Resolves, with the reason, when the agent is gone; also when closing made it go. */
  async #runOnce(): Promise<unknown> {
    let agent: AgentProcess | undefined;
    try {
      agent = this.#spawn();
      const { url, token, instanceId } = await this.#untilClosing(agent.listening);
      this.#announce(connectAgent({ url, token, instanceId, clock: this.options.clock }));
      const { reason, lastWords } = await this.#untilClosing(agent.ended);
      return new Error(`The workspace agent ended (${reason}). ${lastWords}`.trim());
    } catch (error) {
      return error;
    } finally {
      this.#live = undefined;
      await agent?.stop();
    }
  }

  #spawn(): AgentProcess {
    const { command, directory, environment, clock, log } = this.options;
    const given = { ...localAgentEnvironment(environment), ...this.options.ownEnvironment };
    return spawnAgent({ command, directory, environment: given, logLevel: log.level, clock });
  }

  #announce(connection: AgentConnection): void {
    this.#live = connection;
    this.options.log.info({ directory: this.options.directory }, "The workspace agent is running");
    for (const waiter of [...this.#waiters]) waiter.resolve(connection);
  }

  #untilClosing<Value>(promise: Promise<Value>): Promise<Value> {
    const { signal } = this.#closing;
    return new Promise((resolve, reject) => {
      const stop = () => reject(closed());
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
    });
  }
}

function closed(): AgentUnreachable {
  return new AgentUnreachable("The workspace agent is shut down.");
}
