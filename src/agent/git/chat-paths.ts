/**
 * The folders that each chat has worked in: where its commands ran and what it wrote. In memory only, empty after the
 * agent's start. An ancestor's list includes its descendants' folders, so that a watch of the ancestor shows them.
 */
import { LRUCache } from "lru-cache";
import type { ChatScope } from "../process/process-registry.js";

/** The least recently used chats are evicted first. */
const MAX_CHATS = 1_000;
/** A chat works in few folders; beyond this its least recently used ones are evicted. */
const MAX_FOLDERS_PER_CHAT = 500;

export class ChatPaths {
  readonly #folders = new LRUCache<string, Set<string>>({ max: MAX_CHATS });
  readonly #listeners = new Map<string, Set<() => void>>();

  /**
   * Adds absolute folders to the chat's and its ancestors' lists, and notifies their subscribers, also of known ones.
   */
  add({ chatId, ancestorChatIds }: ChatScope, folders: readonly string[]): void {
    if (chatId === undefined) return;
    for (const id of new Set([chatId, ...ancestorChatIds])) {
      this.#addTo(id, folders);
      for (const listener of [...(this.#listeners.get(id) ?? [])]) listener();
    }
  }

  /** The chat's folders, sorted. */
  folders(chatId: string): string[] {
    return [...(this.#folders.get(chatId) ?? [])].sort();
  }

  /** Calls `listener` at each `add` for the chat, until the returned function is called. */
  subscribe(chatId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(chatId) ?? new Set();
    this.#listeners.set(chatId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(chatId) === listeners) this.#listeners.delete(chatId);
    };
  }

  #addTo(chatId: string, added: readonly string[]): void {
    const folders = this.#folders.get(chatId) ?? new Set();
    for (const folder of added) {
      // Moves a known folder to the end: the set is in order of use.
      folders.delete(folder);
      folders.add(folder);
    }
    for (const oldest of folders) {
      if (folders.size <= MAX_FOLDERS_PER_CHAT) break;
      folders.delete(oldest);
    }
    this.#folders.set(chatId, folders);
  }
}
