/**
 * Which replica holds the call of an external workspace's agent, told through Redis: one key for each workspace, gone
 * by itself when nobody renews it. Redis may go away; then nobody finds the calls that others hold until it is back
 * and they were renewed.
 */
import { createClient } from "redis";
import { z } from "zod";
import type { AgentPlace } from "../../domain/workspaces/workspace.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";

/** Longer than any healthy answer of Redis, shorter than a model's patience with a tool. */
const PATIENCE_MS = 2_000;
const LONGEST_RETRY_MS = 5_000;
const FIRST_RETRY_MS = 100;
/** Commands that may wait for the socket; there is one for each dial, each call and each renewal. */
const MAX_WAITING_COMMANDS = 20_000;
/** Failures are logged at most this often. */
const WARNING_INTERVAL_MS = 10_000;

/** Takes the entry away if it is still the one that was put there. */
const REMOVE_SCRIPT =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

const placeSchema = z.object({
  registrationId: z.string(),
  instanceId: z.string(),
  replicaUrl: z.string().nullable(),
});

export class RedisAgentDirectory {
  readonly #client;
  readonly #log: Log;
  readonly #clock: Clock;
  #warnedAt = -Infinity;

  /** Begins to connect, and goes on trying. */
  constructor({ url, log, clock }: { url: string; log: Log; clock: Clock }) {
    this.#log = log;
    this.#clock = clock;
    this.#client = createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING_COMMANDS,
      pingInterval: 10_000,
      socket: { connectTimeout: PATIENCE_MS, reconnectStrategy: retryWait },
    });
    this.#client.on("error", (error: unknown) => this.#failed(error));
    this.#client.connect().catch((error: unknown) => this.#failed(error));
  }

  /** Holds for `leaseMs` unless renewed by another call. Never rejects. */
  async announce(workspaceId: string, place: AgentPlace, leaseMs: number): Promise<void> {
    const text = JSON.stringify(place);
    await this.#ask(() =>
      this.#client.set(keyOf(workspaceId), text, { expiration: { type: "PX", value: leaseMs } }),
    );
  }

  /** Nothing happens when another place was announced since. Never rejects. */
  async withdraw(workspaceId: string, place: AgentPlace): Promise<void> {
    await this.#ask(() =>
      this.#client.eval(REMOVE_SCRIPT, { keys: [keyOf(workspaceId)], arguments: [JSON.stringify(place)] }),
    );
  }

  /** Null when nobody holds it, and when Redis is away. Never rejects. */
  async find(workspaceId: string): Promise<AgentPlace | null> {
    const text = await this.#ask(() => this.#client.get(keyOf(workspaceId)));
    return typeof text === "string" ? readPlace(text) : null;
  }

  async close(): Promise<void> {
    await this.#ask(() => (this.#client.isReady ? this.#client.close() : Promise.resolve()));
    if (this.#client.isOpen) this.#client.destroy();
  }

  async #ask<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
    try {
      return await within(this.#clock, ask());
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  #failed(error: unknown): void {
    const now = this.#clock.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    this.#log.warn({ err: error }, "Redis fails; agents that called other replicas cannot be found");
  }
}

function keyOf(workspaceId: string): string {
  return `parley:{${workspaceId}}:agent`;
}

function readPlace(text: string): AgentPlace | null {
  try {
    return placeSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // Not ours; its expiry takes it away.
    return null;
  }
}

function retryWait(retries: number): number {
  const ceiling = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries, 10));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

function within<T>(clock: Clock, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(PATIENCE_MS, () =>
      reject(new Error(`Redis did not answer within ${PATIENCE_MS} ms`)),
    );
    work.then(resolve, reject).finally(cancel);
  });
}
