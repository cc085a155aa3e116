/** The bus of a single process: listeners are called at once, in order, each in isolation from the others' errors. */
import type { Generation, LiveBatch, SavedNews } from "../../domain/chats/chat-events.js";
import type { ConfigTopic } from "../../domain/common/config-topic.js";
import { type ListEntry, type ListNews, listNewsOf } from "../../domain/chats/list-events.js";
import type { Log } from "../../lib/log.js";
import type { Bus, ChatListener, HeardNews, LastPiece, LoggedList, LoggedPieces } from "./bus.js";
import { ListLog } from "../lists/list-log.js";
import { PartLog } from "./part-log.js";

export class MemoryBus implements Bus {
  readonly #chats = new Map<string, Set<ChatListener>>();
  readonly #lists = new Map<string, Set<(entry: ListEntry) => void>>();
  readonly #wakes = new Set<() => void>();
  readonly #configs = new Set<(topic: ConfigTopic) => void>();
  readonly #log: Log;
  readonly #parts: PartLog;
  readonly #listLog = new ListLog();

  constructor(log: Log, parts: PartLog = new PartLog()) {
    this.#log = log;
    this.#parts = parts;
  }

  readonly isConnected = true;

  publishSaved(news: SavedNews): void {
    for (const listNews of listNewsOf(news)) this.publishList(news.ownerId, listNews);
    this.passSaved(news);
  }

  publishList(ownerId: string, news: ListNews): void {
    this.passList(ownerId, this.#listLog.append(ownerId, news));
  }

  /** Tells the chat's listeners alone, not those of its owner's list. */
  passSaved(news: HeardNews): void {
    for (const listener of this.#listeners(news.chatId)) this.#call(() => listener.saved(news));
  }

  publishLive(batch: LiveBatch): void {
    this.#call(() => this.#parts.append(batch));
    this.passLive(batch);
  }

  /** Tells the chat's listeners of pieces whose log is kept elsewhere. */
  passLive(batch: LiveBatch): void {
    for (const listener of this.#listeners(batch.chatId)) this.#call(() => listener.live(batch));
  }

  /** Tells those who watch the list of what is logged elsewhere, or not at all. */
  passList(ownerId: string, entry: ListEntry): void {
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

  /** Nothing goes away within one process. */
  onReturn(): () => void {
    return () => undefined;
  }

  readPieces(chatId: string, generation: Generation): Promise<LoggedPieces | null> {
    return Promise.resolve(this.#parts.read(chatId, generation));
  }

  /** Of the chat's newest generation, if all of it was written here. */
  lastPiece(chatId: string): LastPiece | null {
    return this.#parts.last(chatId);
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

  #call(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.error({ err: error }, "A listener of the bus failed");
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
