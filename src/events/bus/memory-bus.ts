/** In-process event bus: listeners are called synchronously, in order, each isolated from the others' errors. */
import type { Generation, LiveBatch, SavedChange } from "../../domain/chats/chat-events.js";
import type { ConfigTopic } from "../../domain/common/config-topic.js";
import { type ListEntry, type ListUpdate, listUpdatesOf } from "../../domain/chats/list-events.js";
import type { Log } from "../../lib/log.js";
import type { Bus, ChatListener, PublishedChange, LastDelta, LoggedList, LoggedDeltas } from "./bus.js";
import { ListLog } from "../lists/list-log.js";
import { PartLog } from "./part-log.js";

export class MemoryBus implements Bus {
  readonly #chats = new Map<string, Set<ChatListener>>();
  readonly #lists = new Map<string, Set<(entry: ListEntry) => void>>();
  readonly #wakes = new Set<() => void>();
  readonly #configs = new Set<(topic: ConfigTopic) => void>();
  readonly #log: Log;
  readonly #deltas: PartLog;
  readonly #listLog = new ListLog();

  constructor(log: Log, deltas: PartLog = new PartLog()) {
    this.#log = log;
    this.#deltas = deltas;
  }

  readonly isConnected = true;

  publishSaved(change: SavedChange): void {
    for (const update of listUpdatesOf(change)) this.publishList(change.ownerId, update);
    this.notifySaved(change);
  }

  publishList(ownerId: string, update: ListUpdate): void {
    this.notifyList(ownerId, this.#listLog.append(ownerId, update));
  }

  /** Notifies the chat's listeners, not those of its owner's list. */
  notifySaved(change: PublishedChange): void {
    for (const listener of this.#listeners(change.chatId)) this.#call(() => listener.saved(change));
  }

  publishLive(batch: LiveBatch): void {
    this.#call(() => this.#deltas.append(batch));
    this.notifyLive(batch);
  }

  /** Notifies the chat's listeners of deltas that are logged elsewhere. */
  notifyLive(batch: LiveBatch): void {
    for (const listener of this.#listeners(batch.chatId)) this.#call(() => listener.live(batch));
  }

  /** Notifies the list's listeners of an entry that is logged elsewhere, or not at all. */
  notifyList(ownerId: string, entry: ListEntry): void {
    for (const listener of [...(this.#lists.get(ownerId) ?? [])]) this.#call(() => listener(entry));
  }

  wakeWorkers(): void {
    for (const listener of [...this.#wakes]) this.#call(listener);
  }

  publishConfigChange(topic: ConfigTopic): void {
    for (const listener of [...this.#configs]) this.#call(() => listener(topic));
  }

  subscribeChat(chatId: string, listener: ChatListener): Promise<() => void> {
    return Promise.resolve(attach(this.#chats, chatId, listener));
  }

  subscribeList(ownerId: string, listener: (entry: ListEntry) => void): Promise<() => void> {
    return Promise.resolve(attach(this.#lists, ownerId, listener));
  }

  onWake(listener: () => void): () => void {
    this.#wakes.add(listener);
    return () => void this.#wakes.delete(listener);
  }

  onConfigChange(listener: (topic: ConfigTopic) => void): () => void {
    this.#configs.add(listener);
    return () => void this.#configs.delete(listener);
  }

  /** A single process never loses its connection. */
  onReconnect(): () => void {
    return () => undefined;
  }

  readDeltas(chatId: string, generation: Generation): Promise<LoggedDeltas | null> {
    return Promise.resolve(this.#deltas.read(chatId, generation));
  }

  /** The last delta of the chat's newest generation; null unless this process wrote all of it. */
  lastDelta(chatId: string): LastDelta | null {
    return this.#deltas.last(chatId);
  }

  readList(ownerId: string, after: string | null): Promise<LoggedList> {
    return Promise.resolve(this.#listLog.read(ownerId, after));
  }

  close(): Promise<void> {
    this.#chats.clear();
    this.#lists.clear();
    this.#wakes.clear();
    this.#configs.clear();
    return Promise.resolve();
  }

  #listeners(chatId: string): ChatListener[] {
    return [...(this.#chats.get(chatId) ?? [])];
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#log.error({ err: error }, "bus listener failed");
    }
  }
}

function attach<Listener>(all: Map<string, Set<Listener>>, name: string, listener: Listener): () => void {
  const listeners = all.get(name) ?? new Set();
  listeners.add(listener);
  all.set(name, listeners);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && all.get(name) === listeners) all.delete(name);
  };
}
