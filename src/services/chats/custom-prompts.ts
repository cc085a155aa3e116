/**
 * What people wish for all their chats, remembered for a few seconds: turns ask for it far more often than it
 * changes. One read at a time for each person; a change made through this replica is seen at once.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { Database } from "../../store/common/database.js";
import { readPreferences, type Preferences } from "../../store/users/users.js";

/** How long another replica's change may go unnoticed. */
const FRESH_MS = 5_000;
const MAX_PEOPLE = 10_000;
/** A custom prompt has up to 128 KiB, and usually none. */
const MAX_KEPT_CHARACTERS = 32 * 1024 * 1024;
/** Of an entry without a prompt. */
const ENTRY_CHARACTERS = 256;

type Known = { preferences: Preferences; readAtMs: number };

export class CustomPrompts {
  readonly #known = new LRUCache<string, Known>({
    max: MAX_PEOPLE,
    maxSize: MAX_KEPT_CHARACTERS,
    sizeCalculation: ({ preferences }) => ENTRY_CHARACTERS + preferences.customPrompt.length,
  });
  /** Reads under way. A change takes them out, so that nobody after it gets what was read before. */
  readonly #reading = new Map<string, Promise<Preferences>>();

  constructor(private readonly dependencies: { database: Database; clock: Clock }) {}

  /** The person's own addition to every system prompt, sanitised when it was saved; empty = none. */
  async customPromptOf(userId: string): Promise<string> {
    return (await this.preferencesOf(userId)).customPrompt;
  }

  /** Rejects only when the database does; the next call asks again. */
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

  /** The person's wishes have changed. */
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
