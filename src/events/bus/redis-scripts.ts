/**
 * Runs optional Lua scripts in Redis on the path of a request: each call times out quickly, and after a failure all
 * calls fail fast for a while, so that a hanging Redis slows one request down and not all.
 */
import { createClient } from "redis";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";

/** Ten times a healthy response time on a busy network, and too short for a user to notice. */
const TIMEOUT_MS = 250;
/** Calls fail fast for this long after a failure. */
const BACKOFF_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** Commands that may wait for the socket; there is one for each limit of each mutation. */
const MAX_WAITING_COMMANDS = 20_000;

export type RedisScriptsOptions = {
  url: string;
  log: Log;
  clock: Clock;
  /** Completes the sentence "Redis fails; …". */
  meanwhile: string;
};

export class RedisScripts {
  readonly #client;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #meanwhile: string;
  #backoffUntil = -Infinity;
  #isFailing = false;
  #isClosing = false;

  /** Starts connecting, and retries for as long as it is open. */
  constructor({ url, log, clock, meanwhile }: RedisScriptsOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#meanwhile = meanwhile;
    this.#client = createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING_COMMANDS,
      pingInterval: 10_000,
      socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: retryWait },
    });
    this.#client.on("error", (error: unknown) => this.#failed(error));
    this.#client.connect().catch((error: unknown) => this.#failed(error));
  }

  /** Rejects when Redis is unreachable, times out, or has failed within the last two seconds. */
  async eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown> {
    if (this.#clock.now() < this.#backoffUntil) throw new Error("Redis failed a moment ago");
    try {
      const answer = await this.#within(this.#client.eval(script, options));
      if (this.#isFailing) this.#log.info("Redis recovered");
      this.#isFailing = false;
      return answer;
    } catch (error) {
      this.#backoffUntil = this.#clock.now() + BACKOFF_MS;
      this.#failed(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#client.isReady) await this.#within(this.#client.close()).catch(() => undefined);
    if (this.#client.isOpen) this.#client.destroy();
  }

  /** Logs the first failure until Redis recovers. */
  #failed(error: unknown): void {
    if (this.#isFailing || this.#isClosing) return;
    this.#isFailing = true;
    this.#log.warn({ err: error }, `Redis fails; ${this.#meanwhile}`);
  }

  #within<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(TIMEOUT_MS, () =>
        reject(new Error(`Redis did not respond within ${TIMEOUT_MS} ms`)),
      );
      work.then(resolve, reject).finally(cancel);
    });
  }
}

function retryWait(retries: number): number {
  const ceiling = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries, 10));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}
