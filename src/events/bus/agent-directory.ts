/**
 * Redis directory of external workspaces' agents: which replica each one is connected to. One key per workspace, which
 * expires unless renewed. While Redis is away, agents connected to other replicas cannot be found, until it is back and
 * their entries were renewed.
 */
import { createClient } from "redis";
import { z } from "zod";
import type { AgentLocation } from "../../domain/workspaces/workspace.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";

/** Longer than any healthy response of Redis, shorter than the timeout of a tool call. */
const TIMEOUT_MS = 2_000;
const LONGEST_RETRY_MS = 5_000;
const FIRST_RETRY_MS = 100;
/** Commands that may wait for the socket: one per connect, request and renewal. */
const MAX_WAITING_COMMANDS = 20_000;
/** Failures are logged at most this often. */
const WARNING_INTERVAL_MS = 10_000;

/** Deletes the entry if it is unchanged. */
const REMOVE_SCRIPT =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

const locationSchema = z.object({
  registrationId: z.string(),
  instanceId: z.string(),
  replicaUrl: z.string().nullable(),
});

export class RedisAgentDirectory {
  readonly #client;
  readonly #log: Log;
  readonly #clock: Clock;
  #warnedAt = -Infinity;

  /** Starts connecting, and retries for as long as it is open. */
  constructor({ url, log, clock }: { url: string; log: Log; clock: Clock }) {
    this.#log = log;
    this.#clock = clock;
    this.#client = createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING_COMMANDS,
      pingInterval: 10_000,
      socket: { connectTimeout: TIMEOUT_MS, reconnectStrategy: retryWait },
    });
    this.#client.on("error", (error: unknown) => this.#failed(error));
    this.#client.connect().catch((error: unknown) => this.#failed(error));
  }

  /** Publishes where the agent is connected; expires after `leaseMs` unless called again. Never rejects. */
  async announce(workspaceId: string, location: AgentLocation, leaseMs: number): Promise<void> {
    const text = JSON.stringify(location);
    await this.#request(() =>
      this.#client.set(keyOf(workspaceId), text, { expiration: { type: "PX", value: leaseMs } }),
    );
  }

  /** Deletes the entry unless another location was announced since. Never rejects. */
  async withdraw(workspaceId: string, location: AgentLocation): Promise<void> {
    await this.#request(() =>
      this.#client.eval(REMOVE_SCRIPT, { keys: [keyOf(workspaceId)], arguments: [JSON.stringify(location)] }),
    );
  }

  /** Null when the agent is not connected anywhere, or Redis is away. Never rejects. */
  async find(workspaceId: string): Promise<AgentLocation | null> {
    const text = await this.#request(() => this.#client.get(keyOf(workspaceId)));
    return typeof text === "string" ? readLocation(text) : null;
  }

  async close(): Promise<void> {
    await this.#request(() => (this.#client.isReady ? this.#client.close() : Promise.resolve()));
    if (this.#client.isOpen) this.#client.destroy();
  }

  async #request<Result>(send: () => Promise<Result>): Promise<Result | null> {
    try {
      return await within(this.#clock, send());
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  #failed(error: unknown): void {
    const now = this.#clock.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    this.#log.warn({ err: error }, "Redis unavailable; agents connected to other replicas cannot be found");
  }
}

function keyOf(workspaceId: string): string {
  return `parley:{${workspaceId}}:agent`;
}

function readLocation(text: string): AgentLocation | null {
  try {
    return locationSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // Not one of ours.
    return null;
  }
}

function retryWait(retries: number): number {
  const ceiling = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries, 10));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

function within<T>(clock: Clock, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(TIMEOUT_MS, () =>
      reject(new Error(`Redis did not respond within ${TIMEOUT_MS} ms`)),
    );
    work.then(resolve, reject).finally(cancel);
  });
}
