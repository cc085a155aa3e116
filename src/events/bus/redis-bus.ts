/**
 * Event bus over Redis: carries events between replicas, and stores the deltas of running generations for late
 * subscribers and other replicas. This replica's own listeners are notified directly, without Redis; its own messages
 * coming back from Redis are skipped.
 *
 * Redis may go away at any time. Turns and local listeners are not affected; what other replicas missed is healed by
 * their version sweep, which `onReconnect` triggers. No call waits for Redis longer than `TIMEOUT_MS`.
 */
import { randomUUID } from "node:crypto";
import { createClient } from "redis";
import type { Generation, LiveBatch, SavedChange } from "../../domain/chats/chat-events.js";
import { CONFIG_TOPICS, type ConfigTopic } from "../../domain/common/config-topic.js";
import { type ListEntry, type ListUpdate, listUpdatesOf } from "../../domain/chats/list-events.js";
import { type MeasuredOutcome, NO_METERS, type RedisMeter } from "../../domain/common/meters.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Bus, ChatListener, LastDelta, LoggedList, LoggedDeltas } from "./bus.js";
import { isSameGeneration, liveGeneration } from "../chats/chat-view.js";
import { RedisListLog } from "../lists/list-redis-log.js";
import { MemoryBus } from "./memory-bus.js";
import {
  type Envelope,
  listTopic,
  chatTopic,
  readEnvelope,
  CONFIG_CHANGES_TOPIC,
  WAKE_TOPIC,
  writeEnvelope,
} from "./redis-envelope.js";
import { RedisPartLog } from "./redis-part-log.js";

/** Longer than any healthy response of Redis, shorter than a user's patience. */
const TIMEOUT_MS = 2_000;
/** Backoff between attempts to reconnect: doubled from the first to the second, with jitter. */
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** Commands that may wait for the socket; beyond it Redis does not keep up, and events are dropped and healed later. */
const MAX_WAITING_COMMANDS = 20_000;
/** Failures are logged at most this often, with their count. */
const WARNING_INTERVAL_MS = 10_000;

type Client = ReturnType<typeof createClient>;

export type RedisBusOptions = { url: string; log: Log; clock: Clock; meter?: RedisMeter };

export class RedisBus implements Bus {
  readonly #origin = randomUUID();
  readonly #local: MemoryBus;
  readonly #publisher: Client;
  readonly #subscriber: Client;
  readonly #deltas: RedisPartLog;
  readonly #lists: RedisListLog;
  readonly #log: Log;
  readonly #clock: Clock;
  /** Number of local listeners per topic; each topic is subscribed to once. */
  readonly #watched = new Map<string, number>();
  readonly #reconnectListeners = new Set<() => void>();
  /** Whether the current connection uses sharded topics; null = not known yet. */
  #isSharded: boolean | null = null;
  /** Whether to publish to sharded topics: as on the last connection, since the server is mostly the same. */
  #publishesSharded = false;
  /** Resolves when the topics of the first connection are subscribed to. */
  readonly #firstReady: Promise<void>;
  readonly #meter: RedisMeter;
  #failures = 0;
  #warnedAt = -Infinity;

  private constructor({ url, log, clock, meter = NO_METERS }: RedisBusOptions) {
    this.#log = log;
    this.#meter = meter;
    this.#clock = clock;
    this.#local = new MemoryBus(log);
    const options = {
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING_COMMANDS,
      pingInterval: 10_000,
      socket: { connectTimeout: TIMEOUT_MS, reconnectStrategy: retryWait },
    };
    this.#publisher = createClient(options);
    this.#subscriber = createClient(options);
    this.#deltas = new RedisPartLog(this.#publisher, clock);
    this.#lists = new RedisListLog(this.#publisher);
    for (const client of [this.#publisher, this.#subscriber]) {
      client.on("error", (error: unknown) => this.#failed(error));
    }
    this.#firstReady = new Promise((resolve) => {
      this.#subscriber.on("ready", () => void this.#resubscribe().then(resolve));
    });
    this.#subscriber.on("reconnecting", () => (this.#isSharded = null));
  }

  /** Resolves when Redis is connected, or after a bounded wait without it: then it keeps retrying. */
  static async connect(options: RedisBusOptions): Promise<RedisBus> {
    const bus = new RedisBus(options);
    const connecting = Promise.all([bus.#publisher.connect(), bus.#subscriber.connect(), bus.#firstReady]);
    connecting.catch((error: unknown) => bus.#failed(error));
    await within(options.clock, connecting).catch((error: unknown) => {
      options.log.warn({ err: error }, "Redis unreachable; events stay within this replica until it is back");
    });
    return bus;
  }

  /** Whether events reach other replicas now. */
  get isConnected(): boolean {
    return this.#publisher.isReady && this.#subscriber.isReady;
  }

  publishSaved(change: SavedChange): void {
    for (const update of listUpdatesOf(change)) this.publishList(change.ownerId, update);
    const published = { ...change, lastDelta: this.#endDeltas(change) };
    this.#local.notifySaved(published);
    this.#publish(chatTopic(change.chatId), { origin: this.#origin, type: "saved", change: published });
  }

  /**
   * Notifies this replica's own listeners through Redis too, which assigns the entry's position in the log. When Redis
   * fails, they get the entry without a position.
   */
  publishList(ownerId: string, update: ListUpdate): void {
    const options = { origin: this.#origin, isSharded: this.#publishesSharded };
    within(this.#clock, this.#lists.append(ownerId, update, options)).catch((error: unknown) => {
      this.#failed(error);
      this.#local.notifyList(ownerId, { ...update, id: null, after: null });
    });
  }

  publishLive(batch: LiveBatch): void {
    this.#local.publishLive(batch);
    if (!this.#publisher.isReady) return this.#failed(new Error("Redis is away"));
    // Sent in the same turn of the event loop, so that both take one round trip.
    this.#deltas.append(batch).catch((error: unknown) => this.#failed(error));
    this.#publish(chatTopic(batch.chatId), { origin: this.#origin, type: "live", batch });
  }

  wakeWorkers(): void {
    this.#local.wakeWorkers();
    this.#publish(WAKE_TOPIC, { origin: this.#origin, type: "wake" });
  }

  publishConfigChange(topic: ConfigTopic): void {
    this.#local.publishConfigChange(topic);
    this.#publish(CONFIG_CHANGES_TOPIC, { origin: this.#origin, type: "config", topic });
  }

  /** Resolves once events of other replicas arrive too, or after a bounded wait without them: the sweep heals those. */
  async subscribeChat(chatId: string, listener: ChatListener): Promise<() => void> {
    return this.#watch(chatTopic(chatId), await this.#local.subscribeChat(chatId, listener));
  }

  async subscribeList(ownerId: string, listener: (entry: ListEntry) => void): Promise<() => void> {
    return this.#watch(listTopic(ownerId), await this.#local.subscribeList(ownerId, listener));
  }

  onWake(listener: () => void): () => void {
    return this.#local.onWake(listener);
  }

  onConfigChange(listener: (topic: ConfigTopic) => void): () => void {
    return this.#local.onConfigChange(listener);
  }

  onReconnect(listener: () => void): () => void {
    this.#reconnectListeners.add(listener);
    return () => void this.#reconnectListeners.delete(listener);
  }

  /** Reads from this replica's memory when the deltas were written here, else from Redis. Never rejects. */
  async readDeltas(chatId: string, generation: Generation): Promise<LoggedDeltas | null> {
    const own = await this.#local.readDeltas(chatId, generation);
    if (own && (own.deltas[0]?.sequence ?? 1) <= own.droppedUpTo + 1) return own;
    try {
      return await within(this.#clock, this.#deltas.read(chatId, generation));
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  async readList(ownerId: string, after: string | null): Promise<LoggedList> {
    try {
      return await within(this.#clock, this.#lists.read(ownerId, after));
    } catch (error) {
      this.#failed(error);
      return { last: null, entries: null };
    }
  }

  async close(): Promise<void> {
    this.#reconnectListeners.clear();
    await this.#local.close();
    for (const client of [this.#subscriber, this.#publisher]) {
      client.removeAllListeners("ready");
      // Events published a moment ago may still be in flight.
      await within(this.#clock, client.isReady ? client.close() : Promise.resolve()).catch(() => undefined);
      if (client.isOpen) client.destroy();
    }
  }

  // ── from Redis ───────────────────────────────────────────────────────────

  #receive(text: string): void {
    const envelope = readEnvelope(text);
    if (envelope === null) return this.#failed(new Error("Skipped a message in an unknown format"));
    if (envelope.type === "list") {
      const { ownerId, update, id, after } = envelope;
      return this.#local.notifyList(ownerId, { ...update, id, after });
    }
    if (envelope.origin === this.#origin) return;
    switch (envelope.type) {
      case "saved":
        return this.#local.notifySaved(envelope.change);
      case "live":
        return this.#local.notifyLive(envelope.batch);
      case "wake":
        return this.#local.wakeWorkers();
      case "config":
        return this.#local.publishConfigChange(envelope.topic);
    }
  }

  /** Subscribes a fresh connection to all topics, also to those that failed before. Never rejects. */
  async #resubscribe(): Promise<void> {
    try {
      this.#isSharded = await hasShardedTopics(this.#subscriber);
      this.#publishesSharded = this.#isSharded;
      const topics = [WAKE_TOPIC, CONFIG_CHANGES_TOPIC, ...this.#watched.keys()];
      await Promise.all(topics.map((topic) => this.#subscribe(topic)));
      for (const listener of this.#reconnectListeners) listener();
      this.#local.wakeWorkers();
      for (const topic of CONFIG_TOPICS) this.#local.publishConfigChange(topic);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Subscribes to the topic for its first listener. The returned function also calls `detach`, which removes the local one. */
  async #watch(topic: string, detach: () => void): Promise<() => void> {
    const before = this.#watched.get(topic) ?? 0;
    this.#watched.set(topic, before + 1);
    if (before === 0) await this.#subscribe(topic);
    let isDetached = false;
    return () => {
      if (isDetached) return;
      isDetached = true;
      detach();
      this.#unwatch(topic);
    };
  }

  async #subscribe(topic: string): Promise<void> {
    // Without a connection, `#resubscribe` does it later.
    if (!this.#subscriber.isReady || this.#isSharded === null) return;
    const subscribing = this.#isSharded
      ? this.#subscriber.sSubscribe(topic, this.#listener)
      : this.#subscriber.subscribe(topic, this.#listener);
    await within(this.#clock, subscribing).catch((error: unknown) => this.#failed(error));
  }

  /** One function for all topics, so that subscribing twice to a topic has no effect. */
  readonly #listener = (text: string) => this.#receive(text);

  #unwatch(topic: string): void {
    const left = (this.#watched.get(topic) ?? 1) - 1;
    if (left > 0) return void this.#watched.set(topic, left);
    this.#watched.delete(topic);
    if (!this.#subscriber.isReady || this.#isSharded === null) return;
    const ending = this.#isSharded
      ? this.#subscriber.sUnsubscribe(topic, this.#listener)
      : this.#subscriber.unsubscribe(topic, this.#listener);
    ending.catch((error: unknown) => this.#failed(error));
  }

  // ── to Redis ─────────────────────────────────────────────────────────────

  /** The last delta of the generation that the change ends; null unless this replica wrote all of it. */
  #endDeltas({ chatId, state }: SavedChange): LastDelta | null {
    const last = this.#local.lastDelta(chatId);
    if (!last || isSameGeneration(last.generation, liveGeneration(state))) return null;
    if (this.#publisher.isReady)
      this.#deltas.end(chatId, last).catch((error: unknown) => this.#failed(error));
    return last;
  }

  #publish(topic: string, envelope: Envelope): void {
    if (!this.#publisher.isReady) return this.#failed(new Error("Redis is away"));
    const text = writeEnvelope(envelope);
    const startedAt = performance.now();
    const record = (outcome: MeasuredOutcome) =>
      this.#meter.published(envelope.type, outcome, (performance.now() - startedAt) / 1_000);
    const publishing = this.#publishesSharded
      ? this.#publisher.sPublish(topic, text)
      : this.#publisher.publish(topic, text);
    publishing.then(
      () => record("ok"),
      (error: unknown) => {
        record("error");
        this.#failed(error);
      },
    );
  }

  #failed(error: unknown): void {
    this.#failures += 1;
    const now = this.#clock.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    this.#log.warn(
      { err: error, failures: this.#failures },
      "Redis unavailable; other replicas learn of changes by polling",
    );
    this.#failures = 0;
  }
}

function retryWait(retries: number): number {
  const ceiling = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries, 10));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

/** Whether topics can be sharded, as of Redis 7: a cluster then need not forward each message to every node. */
async function hasShardedTopics(client: Client): Promise<boolean> {
  const server = await client.info("server");
  return Number(/redis_version:(\d+)/.exec(server)?.[1] ?? 0) >= 7;
}

function within<T>(clock: Clock, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(TIMEOUT_MS, () =>
      reject(new Error(`Redis did not respond within ${TIMEOUT_MS} ms`)),
    );
    work.then(resolve, reject).finally(cancel);
  });
}
