/**
 * Which places each chat has worked in: where its commands ran and what it wrote. In memory only: a new agent knows
 * nothing. An ancestor's list has what its descendants did as well, so that whoever watches the ancestor sees it.
 */
import { LRUCache } from "lru-cache";
import type { ChatScope } from "../process/process-registry.js";

/** Chats that nobody heard of for the longest time are forgotten first. */
const MAX_CHATS = 1_000;
/** A chat works in few folders; of one that works in very many the first ones are forgotten. */
const MAX_FOLDERS_PER_CHAT = 500;

export class ChatPaths {
  readonly #folders = new LRUCache<string, Set<string>>({ max: MAX_CHATS });
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Adds absolute folders to the chat's and its ancestors' lists, and tells their watchers, also of known ones. */
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

  /** Calls `listener` whenever something was done in the chat's name, until the returned function is called. */
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
      // The latest use counts: it goes to the end of the row.
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
