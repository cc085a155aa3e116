/**
 * Keeps a control channel open to the agent of each workspace that this server uses, so that the agent can send it
 * requests. A channel that breaks is opened again with back-off. It ends when the agent stays unreachable, when too many
 * other workspaces are used, or by `close`; using its workspace again opens a new one.
 */
import type { Clock } from "../lib/clock.js";
import { KeyedSupervisor } from "../lib/concurrency/keyed-supervisor.js";
import { SupervisedTask, type AttemptEnd } from "../lib/concurrency/supervised-task.js";
import type { Log } from "../lib/log.js";
import type {
  AgentConnection,
  GitCredentials,
  GitCredentialsRequest,
} from "./agent-client/agent-connection.js";
import type { ControlChannel } from "./control-channel.js";

const FIRST_RETRY_DELAY_MS = 250;
const MAX_RETRY_DELAY_MS = 30_000;
/** Some ten minutes without an agent; the workspace's next use finds it when it is back. */
const MAX_FAILURES = 24;
/** Each is a socket; the least recently used are closed first. */
const MAX_CHANNELS = 1_000;

export type ControlChannelsDependencies = {
  answer(workspaceId: string, request: GitCredentialsRequest): Promise<GitCredentials>;
  clock: Clock;
  log: Log;
  /** In [0, 1); for jitter. */
  random(): number;
};

/** Rejects when the agent cannot be reached now. */
type Connect = () => Promise<AgentConnection>;

export class ControlChannels {
  readonly #channels = new KeyedSupervisor<SupervisedTask>();

  constructor(private readonly dependencies: ControlChannelsDependencies) {}

  /** To be called whenever the workspace is used and its agent was just reached: opens its channel unless it is open. */
  ensure(workspaceId: string, connect: Connect): void {
    if (this.#channels.isClosed) return;
    const channel = this.#channels.ensure(workspaceId, () => this.#start(workspaceId, connect));
    channel.retryNow();
    const oldestId = this.#channels.leastRecentlyUsed;
    if (oldestId === undefined || this.#channels.size <= MAX_CHANNELS) return;
    this.dependencies.log.warn(
      { workspaceId: oldestId, channels: this.#channels.size },
      "too many workspaces in use; control channel closed",
    );
    void this.#channels.stop(oldestId);
  }

  /** Closes the channel of a workspace that was stopped. */
  stop(workspaceId: string): void {
    void this.#channels.stop(workspaceId);
  }

  /** Resolves when no channel is open and no request is being answered. */
  close(): Promise<void> {
    return this.#channels.close();
  }

  #start(workspaceId: string, connect: Connect): SupervisedTask {
    const { clock, log, random } = this.dependencies;
    return new SupervisedTask({
      clock,
      random,
      firstDelayMs: FIRST_RETRY_DELAY_MS,
      maxDelayMs: MAX_RETRY_DELAY_MS,
      maxFailures: MAX_FAILURES,
      attempt: (signal) => this.#attempt(workspaceId, connect, signal),
      onRetry: (reason, delayMs) =>
        log.debug({ err: reason, workspaceId, delayMs }, "control channel not open; retrying"),
      onGiveUp: (reason) =>
        log.warn(
          { err: reason, workspaceId },
          "control channel given up; commands in the workspace get no git credentials",
        ),
    });
  }

  /** Opens the channel and resolves when it has ended. */
  async #attempt(workspaceId: string, connect: Connect, signal: AbortSignal): Promise<AttemptEnd> {
    let abort: () => void = () => undefined;
    const aborted = new Promise<null>((resolve) => (abort = () => resolve(null)));
    signal.addEventListener("abort", abort, { once: true });
    let channel: ControlChannel | null = null;
    const close = () => channel?.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      // Opening may take as long as an agent's start; when aborted it is not waited for, and closes itself.
      channel = await Promise.race([this.#open(workspaceId, connect, signal), aborted]);
      // It may have been aborted in the moment in which it opened.
      if (signal.aborted) close();
      await channel?.ended;
      return { wasHealthy: true, reason: null };
    } catch (error) {
      return { wasHealthy: false, reason: error };
    } finally {
      signal.removeEventListener("abort", abort);
      signal.removeEventListener("abort", close);
    }
  }

  async #open(workspaceId: string, connect: Connect, signal: AbortSignal): Promise<ControlChannel> {
    const { answer, log } = this.dependencies;
    const connection = await connect();
    const channel = await connection.openControlChannel({
      answer: (request) => answer(workspaceId, request),
      onError: (error) => log.error({ err: error, workspaceId }, "request of a workspace agent failed"),
    });
    if (signal.aborted) channel.close();
    return channel;
  }
}
