/**
 * The bus of several replicas: Redis carries news between them, and keeps the pieces of running generations for
 * whoever comes later or runs elsewhere. This replica's own listeners hear at once, without Redis; what comes back
 * from there with our own mark is passed over.
 *
 * Redis may go away at any time. Turns and local listeners do not notice; what others missed is healed by their
 * version sweep, which is due when `onReturn` says that Redis is back. No call waits for Redis longer than
 * `PATIENCE_MS`.
 */
import { randomUUID } from "node:crypto";
import { createClient } from "redis";
import type { Generation, LiveBatch, SavedNews } from "../../domain/chats/chat-events.js";
import { CONFIG_TOPICS, type ConfigTopic } from "../../domain/common/config-topic.js";
import { type ListEntry, type ListNews, listNewsOf } from "../../domain/chats/list-events.js";
import { type MeasuredOutcome, NO_METERS, type RedisMeter } from "../../domain/common/meters.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Bus, ChatListener, LastPiece, LoggedList, LoggedPieces } from "./bus.js";
import { isSameGeneration, liveGeneration } from "../chats/chat-view.js";
import { RedisListLog } from "../lists/list-redis-log.js";
import { MemoryBus } from "./memory-bus.js";
import {
  type Envelope,
  listTopic,
  newsTopic,
  readEnvelope,
  SETUP_TOPIC,
  WAKE_TOPIC,
} from "./redis-envelope.js";
import { RedisPartLog } from "./redis-part-log.js";

/** Longer than any healthy answer of Redis, shorter than a person's patience. */
const PATIENCE_MS = 2_000;
/** Between two tries to reach Redis again: doubled from the first to the second, with jitter. */
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** Commands that may wait for the socket; beyond it Redis does not keep up, and news is dropped to be healed. */
const MAX_WAITING_COMMANDS = 20_000;
/** Failures are logged at most this often, with their number. */
const WARNING_INTERVAL_MS = 10_000;

type Client = ReturnType<typeof createClient>;

export type RedisBusOptions = { url: string; log: Log; clock: Clock; meter?: RedisMeter };

export class RedisBus implements Bus {
  readonly #origin = randomUUID();
  readonly #local: MemoryBus;
  readonly #publisher: Client;
  readonly #subscriber: Client;
  readonly #parts: RedisPartLog;
  readonly #lists: RedisListLog;
  readonly #log: Log;
  readonly #clock: Clock;
  /** How many listeners each topic has here; it is subscribed to once however many there are. */
  readonly #watched = new Map<string, number>();
  readonly #returns = new Set<() => void>();
  /** How topics are subscribed to on the present connection; null = not known yet. */
  #isSharded: boolean | null = null;
  /** How news is told: as topics were subscribed to last, since the server that comes back is mostly the same. */
  #tellsSharded = false;
  /** The first connection's topics are subscribed to. */
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
      socket: { connectTimeout: PATIENCE_MS, reconnectStrategy: retryWait },
    };
    this.#publisher = createClient(options);
    this.#subscriber = createClient(options);
    this.#parts = new RedisPartLog(this.#publisher, clock);
    this.#lists = new RedisListLog(this.#publisher);
    for (const client of [this.#publisher, this.#subscriber]) {
      client.on("error", (error: unknown) => this.#failed(error));
    }
    this.#firstReady = new Promise((resolve) => {
      this.#subscriber.on("ready", () => void this.#resubscribe().then(resolve));
    });
    this.#subscriber.on("reconnecting", () => (this.#isSharded = null));
  }

  /** Resolves when Redis answers, or after a bounded wait without: then it goes on trying. */
  static async connect(options: RedisBusOptions): Promise<RedisBus> {
    const bus = new RedisBus(options);
    const connecting = Promise.all([bus.#publisher.connect(), bus.#subscriber.connect(), bus.#firstReady]);
    connecting.catch((error: unknown) => bus.#failed(error));
    await within(options.clock, connecting).catch((error: unknown) => {
      options.log.warn(
        { err: error },
        "Redis cannot be reached; events stay inside this server until it can",
      );
    });
    return bus;
  }

  /** Whether news reaches other replicas now. */
  get isConnected(): boolean {
    return this.#publisher.isReady && this.#subscriber.isReady;
  }

  publishSaved(news: SavedNews): void {
    for (const listNews of listNewsOf(news)) this.publishList(news.ownerId, listNews);
    const heard = { ...news, lastPiece: this.#endPieces(news) };
    this.#local.passSaved(heard);
    this.#publish(newsTopic(news.chatId), { origin: this.#origin, type: "saved", news: heard });
  }

  /**
   * This replica's own listeners hear of it through Redis too, which gives it its place in the log. What Redis does
   * not take they are told without one.
   */
  publishList(ownerId: string, news: ListNews): void {
    const telling = { origin: this.#origin, isSharded: this.#tellsSharded };
    within(this.#clock, this.#lists.append(ownerId, news, telling)).catch((error: unknown) => {
      this.#failed(error);
      this.#local.passList(ownerId, { ...news, id: null, after: null });
    });
  }

  publishLive(batch: LiveBatch): void {
    this.#local.publishLive(batch);
    if (!this.#publisher.isReady) return this.#failed(new Error("Redis is away"));
    // Sent in the same turn of the event loop, so the two are one round trip.
    this.#parts.append(batch).catch((error: unknown) => this.#failed(error));
    this.#publish(newsTopic(batch.chatId), { origin: this.#origin, type: "live", batch });
  }

  wakeWorkers(): void {
    this.#local.wakeWorkers();
    this.#publish(WAKE_TOPIC, { origin: this.#origin, type: "wake" });
  }

  publishConfigChange(topic: ConfigTopic): void {
    this.#local.publishConfigChange(topic);
    this.#publish(SETUP_TOPIC, { origin: this.#origin, type: "config", topic });
  }

  /** Resolves once news from other replicas arrives too; after a bounded wait also without, for the sweep to heal. */
  async subscribeChat(chatId: string, listener: ChatListener): Promise<() => void> {
    return this.#watch(newsTopic(chatId), await this.#local.subscribeChat(chatId, listener));
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

  onReturn(listener: () => void): () => void {
    this.#returns.add(listener);
    return () => void this.#returns.delete(listener);
  }

  /** From this replica's memory when the pieces were written here, else from Redis. Never rejects. */
  async readPieces(chatId: string, generation: Generation): Promise<LoggedPieces | null> {
    const own = await this.#local.readPieces(chatId, generation);
    if (own && (own.pieces[0]?.sequence ?? 1) <= own.droppedUpTo + 1) return own;
    try {
      return await within(this.#clock, this.#parts.read(chatId, generation));
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
    this.#returns.clear();
    await this.#local.close();
    for (const client of [this.#subscriber, this.#publisher]) {
      client.removeAllListeners("ready");
      // What was published a moment ago is still on its way out.
      await within(this.#clock, client.isReady ? client.close() : Promise.resolve()).catch(() => undefined);
      if (client.isOpen) client.destroy();
    }
  }

  // ── from Redis ───────────────────────────────────────────────────────────

  #hear(text: string): void {
    const envelope = readEnvelope(text);
    if (envelope === null) return this.#failed(new Error("News in an unknown form was passed over"));
    if (envelope.type === "list") {
      const { ownerId, news, id, after } = envelope;
      return this.#local.passList(ownerId, { ...news, id, after });
    }
    if (envelope.origin === this.#origin) return;
    switch (envelope.type) {
      case "saved":
        return this.#local.passSaved(envelope.news);
      case "live":
        return this.#local.passLive(envelope.batch);
      case "wake":
        return this.#local.wakeWorkers();
      case "config":
        return this.#local.publishConfigChange(envelope.topic);
    }
  }

  /** A fresh connection knows of no topic that failed to be subscribed to before. Never rejects. */
  async #resubscribe(): Promise<void> {
    try {
      this.#isSharded = await hasShardedTopics(this.#subscriber);
      this.#tellsSharded = this.#isSharded;
      const topics = [WAKE_TOPIC, SETUP_TOPIC, ...this.#watched.keys()];
      await Promise.all(topics.map((topic) => this.#subscribe(topic)));
      for (const listener of this.#returns) listener();
      this.#local.wakeWorkers();
      for (const topic of CONFIG_TOPICS) this.#local.publishConfigChange(topic);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** `detach` takes the listener away here; what is returned also leaves the topic, with its last listener. */
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
    // A topic that cannot be subscribed to yet is, with all others, when the connection is there.
    if (!this.#subscriber.isReady || this.#isSharded === null) return;
    const hear = this.#listener;
    const subscribing = this.#isSharded
      ? this.#subscriber.sSubscribe(topic, hear)
      : this.#subscriber.subscribe(topic, hear);
    await within(this.#clock, subscribing).catch((error: unknown) => this.#failed(error));
  }

  /** One function for all topics: subscribing twice to a topic with it is subscribing once. */
  readonly #listener = (text: string) => this.#hear(text);

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

  /** The last piece of the generation that is over with this news; null when not all of it was written here. */
  #endPieces({ chatId, state }: SavedNews): LastPiece | null {
    const last = this.#local.lastPiece(chatId);
    if (!last || isSameGeneration(last.generation, liveGeneration(state))) return null;
    if (this.#publisher.isReady) this.#parts.end(chatId, last).catch((error: unknown) => this.#failed(error));
    return last;
  }

  #publish(topic: string, envelope: Envelope): void {
    if (!this.#publisher.isReady) return this.#failed(new Error("Redis is away"));
    const text = JSON.stringify(envelope);
    const startedAt = performance.now();
    const told = (outcome: MeasuredOutcome) =>
      this.#meter.published(envelope.type, outcome, (performance.now() - startedAt) / 1_000);
    const publishing = this.#tellsSharded
      ? this.#publisher.sPublish(topic, text)
      : this.#publisher.publish(topic, text);
    publishing.then(
      () => told("ok"),
      (error: unknown) => {
        told("error");
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
      "Redis fails; other replicas hear of news by polling",
    );
    this.#failures = 0;
  }
}

function retryWait(retries: number): number {
  const ceiling = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries, 10));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

/** Redis 7 can keep a topic on the shard that owns its key, so that a cluster need not tell every node. */
async function hasShardedTopics(client: Client): Promise<boolean> {
  const server = await client.info("server");
  return Number(/redis_version:(\d+)/.exec(server)?.[1] ?? 0) >= 7;
}

function within<T>(clock: Clock, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(PATIENCE_MS, () =>
      reject(new Error(`Redis did not answer within ${PATIENCE_MS} ms`)),
    );
    work.then(resolve, reject).finally(cancel);
  });
}
