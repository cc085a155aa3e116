/** The open control channels to servers, and requests to all of them at once. */
import { setMaxListeners } from "node:events";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import {
  MAX_PENDING_CONTROL_REQUESTS,
  type GitCredentials,
  type GitCredentialsRequest,
} from "../protocol/control-channel.js";

/** From the request to the answer, a server's reconnect included; git waits no longer. */
const CREDENTIALS_TIMEOUT_MS = 10_000;

/** One server's control channel for one workspace. */
export type ControlChannel = {
  /** Rejects when the channel closes before the answer, or when `signal` is aborted. */
  ask(request: GitCredentialsRequest, signal: AbortSignal): Promise<GitCredentials>;
};

export class ControlChannels {
  readonly #channels = new Set<ControlChannel>();
  readonly #addListeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #waiting = 0;

  constructor(private readonly dependencies: { clock: Clock; log: Log }) {}

  get count(): number {
    return this.#channels.size;
  }

  add(channel: ControlChannel): void {
    this.#channels.add(channel);
    for (const listener of [...this.#addListeners]) listener();
  }

  remove(channel: ControlChannel): void {
    this.#channels.delete(channel);
  }

  /**
   * Asks all servers at once: only one of them has the chat, and one that hangs does not block the others. Waits for a
   * server that is reconnecting. Never rejects.
   */
  async ask(request: GitCredentialsRequest): Promise<GitCredentials> {
    if (this.#waiting >= MAX_PENDING_CONTROL_REQUESTS) {
      this.dependencies.log.warn({ waiting: this.#waiting }, "too many concurrent git credential requests");
      return refused("Too many commands ask for credentials at once.");
    }
    const timeout = new AbortController();
    const cancel = this.dependencies.clock.after(CREDENTIALS_TIMEOUT_MS, () => timeout.abort());
    const signal = AbortSignal.any([timeout.signal, this.#closing.signal]);
    // Every open channel adds a listener.
    setMaxListeners(0, signal);
    this.#waiting += 1;
    try {
      return await this.#askUntil(request, signal);
    } finally {
      this.#waiting -= 1;
      cancel();
      // Cancels the requests to the other servers.
      timeout.abort();
    }
  }

  /** Refuses pending requests and all later ones. */
  close(): void {
    this.#closing.abort();
  }

  async #askUntil(request: GitCredentialsRequest, signal: AbortSignal): Promise<GitCredentials> {
    const asked = new Set<ControlChannel>();
    while (!signal.aborted) {
      const channels = [...this.#channels].filter((channel) => !asked.has(channel));
      for (const channel of channels) asked.add(channel);
      const answer = await firstGiven(channels, request, signal);
      if (answer !== null) return answer;
      if (![...this.#channels].some((channel) => !asked.has(channel))) await this.#channelAdded(signal);
    }
    return refused("No Parley server that could give credentials can be reached now.");
  }

  /** Resolves when a channel is added, or when `signal` is aborted. */
  async #channelAdded(signal: AbortSignal): Promise<void> {
    const added = new AbortController();
    const listener = () => added.abort();
    this.#addListeners.add(listener);
    // `signal` carries the request's own timeout.
    await sleep(this.dependencies.clock, CREDENTIALS_TIMEOUT_MS, AbortSignal.any([added.signal, signal]));
    this.#addListeners.delete(listener);
  }
}

/** The first credentials; a refusal when no server has any; null when no server answers. */
async function firstGiven(
  channels: readonly ControlChannel[],
  request: GitCredentialsRequest,
  signal: AbortSignal,
): Promise<GitCredentials | null> {
  let refusal: GitCredentials | null = null;
  const given = channels.map(async (channel) => {
    const answer = await channel.ask(request, signal);
    if (answer.outcome === "given") return answer;
    refusal = answer;
    throw new Error("Refused.");
  });
  // Rejects when all are refused, lost or late; a refusal among them is returned.
  return Promise.any(given).catch(() => refusal);
}

function refused(reason: string): GitCredentials {
  return { outcome: "refused", reason };
}
