/** The lines to servers that are open now, and how a question is put to them. */
import { setMaxListeners } from "node:events";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import {
  MAX_PENDING_CONTROL_REQUESTS,
  type GitCredentials,
  type GitCredentialsRequest,
} from "../protocol/control-channel.js";

/** From the question to the answer, a server's way back included; git waits no longer. */
export const QUESTION_TIMEOUT_MS = 10_000;

/** One server's line for one workspace. */
export type ControlChannel = {
  /** Rejects when the line breaks before the answer, or when `signal` is aborted. */
  ask(request: GitCredentialsRequest, signal: AbortSignal): Promise<GitCredentials>;
};

export class ControlChannels {
  readonly #lines = new Set<ControlChannel>();
  readonly #arrivals = new Set<() => void>();
  readonly #closing = new AbortController();
  #waiting = 0;

  constructor(private readonly parts: { clock: Clock; log: Log }) {}

  get count(): number {
    return this.#lines.size;
  }

  add(line: ControlChannel): void {
    this.#lines.add(line);
    for (const arrived of [...this.#arrivals]) arrived();
  }

  remove(line: ControlChannel): void {
    this.#lines.delete(line);
  }

  /**
   * Asks all servers at once: only one of them has the chat, and one that hangs keeps nobody from answering. A server
   * that is just coming back is waited for. Never rejects.
   */
  async ask(request: GitCredentialsRequest): Promise<GitCredentials> {
    if (this.#waiting >= MAX_PENDING_CONTROL_REQUESTS) {
      this.parts.log.warn({ waiting: this.#waiting }, "Too many commands ask for git credentials at once");
      return refused("Too many commands ask for credentials at once.");
    }
    const late = new AbortController();
    const cancel = this.parts.clock.after(QUESTION_TIMEOUT_MS, () => late.abort());
    const signal = AbortSignal.any([late.signal, this.#closing.signal]);
    // As many lines as there are listen to it.
    setMaxListeners(0, signal);
    this.#waiting += 1;
    try {
      return await this.#askUntil(request, signal);
    } finally {
      this.#waiting -= 1;
      cancel();
      // What other servers still think about it is of no interest any more.
      late.abort();
    }
  }

  /** Nobody is asked any more; who waits is refused. */
  close(): void {
    this.#closing.abort();
  }

  async #askUntil(request: GitCredentialsRequest, signal: AbortSignal): Promise<GitCredentials> {
    const asked = new Set<ControlChannel>();
    while (!signal.aborted) {
      const lines = [...this.#lines].filter((line) => !asked.has(line));
      for (const line of lines) asked.add(line);
      const answer = await firstGiven(lines, request, signal);
      if (answer !== null) return answer;
      if (![...this.#lines].some((line) => !asked.has(line))) await this.#arrival(signal);
    }
    return refused("No Parley server that could give credentials can be reached now.");
  }

  /** Resolves when a line is added, or when `signal` is aborted. */
  async #arrival(signal: AbortSignal): Promise<void> {
    const arrived = new AbortController();
    const note = () => arrived.abort();
    this.#arrivals.add(note);
    // Until the question is given up; its time is measured elsewhere.
    await sleep(this.parts.clock, QUESTION_TIMEOUT_MS, AbortSignal.any([arrived.signal, signal]));
    this.#arrivals.delete(note);
  }
}

/** The first credentials; when nobody gives any, a refusal; null when nobody answers. */
async function firstGiven(
  lines: readonly ControlChannel[],
  request: GitCredentialsRequest,
  signal: AbortSignal,
): Promise<GitCredentials | null> {
  let refusal: GitCredentials | null = null;
  const given = lines.map(async (line) => {
    const answer = await line.ask(request, signal);
    if (answer.outcome === "given") return answer;
    refusal = answer;
    throw new Error("Refused.");
  });
  // It rejects when all are refused, lost or late; a refusal among them is what is told.
  return Promise.any(given).catch(() => refusal);
}

function refused(reason: string): GitCredentials {
  return { outcome: "refused", reason };
}
