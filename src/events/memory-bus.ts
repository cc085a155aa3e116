/** The bus of a single process: listeners are called at once, in order, each in isolation from the others' errors. */
import type { Generation, LiveBatch, SavedNews } from "../domain/chat-events.js";
import type { Log } from "../lib/log.js";
import type { Bus, ChatListener, LoggedPieces } from "./bus.js";
import { PartLog } from "./part-log.js";

export class MemoryBus implements Bus {
  readonly #chats = new Map<string, Set<ChatListener>>();
  readonly #wakes = new Set<() => void>();
  readonly #log: Log;
  readonly #parts: PartLog;

  constructor(log: Log, parts: PartLog = new PartLog()) {
    this.#log = log;
    this.#parts = parts;
  }

  readonly isConnected = true;

  publishSaved(news: SavedNews): void {
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

  wakeWorkers(): void {
    for (const listener of [...this.#wakes]) this.#call(listener);
  }

  subscribeChat(chatId: string, listener: ChatListener): Promise<() => void> {
    const listeners = this.#chats.get(chatId) ?? new Set();
    listeners.add(listener);
    this.#chats.set(chatId, listeners);
    return Promise.resolve(() => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#chats.get(chatId) === listeners) this.#chats.delete(chatId);
    });
  }

  onWake(listener: () => void): () => void {
    this.#wakes.add(listener);
    return () => void this.#wakes.delete(listener);
  }

  /** Nothing goes away within one process. */
  onReturn(): () => void {
    return () => undefined;
  }

  readPieces(chatId: string, generation: Generation): Promise<LoggedPieces | null> {
    return Promise.resolve(this.#parts.read(chatId, generation));
  }

  close(): Promise<void> {
    this.#chats.clear();
    this.#wakes.clear();
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
