/**
 * Cache of users' preferences for a few seconds, as turns read them far more often than they change. At most one read
 * at a time per user; a change made through this replica is visible at once.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { Database } from "../../store/common/database.js";
import { readPreferences, type Preferences } from "../../store/users/users.js";

/** A change on another replica is visible after this. */
const FRESH_MS = 5_000;
const MAX_USERS = 10_000;
/** A custom prompt has up to 128 KiB, and usually none. */
const MAX_CACHED_CHARACTERS = 32 * 1024 * 1024;
/** Of an entry without a prompt. */
const ENTRY_CHARACTERS = 256;

type Known = { preferences: Preferences; readAtMs: number };

export class CustomPrompts {
  readonly #known = new LRUCache<string, Known>({
    max: MAX_USERS,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: ({ preferences }) => ENTRY_CHARACTERS + preferences.customPrompt.length,
  });
  /** Reads in progress. A change removes them, so that later callers do not get the old value. */
  readonly #reading = new Map<string, Promise<Preferences>>();

  constructor(private readonly dependencies: { database: Database; clock: Clock }) {}

  /** The user's custom prompt, appended to every system prompt; sanitized when it was saved; empty = none. */
  async customPromptOf(userId: string): Promise<string> {
    return (await this.preferencesOf(userId)).customPrompt;
  }

  /** Rejects only when the database fails; the next call reads again. */
  preferencesOf(userId: string): Promise<Preferences> {
    const known = this.#known.get(userId);
    if (known && this.dependencies.clock.now() - known.readAtMs < FRESH_MS)
      return Promise.resolve(known.preferences);
    const reading = this.#reading.get(userId);
    if (reading) return reading;
    const read = this.#read(userId, () => this.#reading.get(userId) === read);
    this.#reading.set(userId, read);
    return read;
  }

  /** Call after the user's preferences have changed. */
  forget(userId: string): void {
    this.#known.delete(userId);
    this.#reading.delete(userId);
  }

  async #read(userId: string, isNewest: () => boolean): Promise<Preferences> {
    const readAtMs = this.dependencies.clock.now();
    try {
      const preferences = await readPreferences(this.dependencies.database, userId);
      if (isNewest()) this.#known.set(userId, { preferences, readAtMs });
      return preferences;
    } finally {
      if (isNewest()) this.#reading.delete(userId);
    }
  }
}
