/**
 * In-memory log of the newest updates of each user's chat list, for returning subscribers. Entry ids start with a random
 * number of the process, so that a position in the log of an earlier process is recognized as unknown.
 */
import { randomInt } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ListEntry, ListUpdate } from "../../domain/chats/list-events.js";
import type { LoggedList } from "../bus/bus.js";

/** Updates retained per user; a subscriber that missed more must refresh its list. */
export const MAX_LOGGED_UPDATES = 256;
/** Entries of all logs together, about 25 MB; the least recently used logs are evicted first. */
const MAX_ENTRIES = 100_000;
/** The largest range that `randomInt` accepts. */
const MAX_EPOCH = 2 ** 48 - 1;

/** `floor` is the position before the oldest entry. */
type Log = { floor: string; entries: (ListEntry & { id: string })[] };

export class ListLog {
  readonly #epoch = randomInt(MAX_EPOCH);
  /** Counts over all users, so that a position in one log is never valid in another. */
  #count = 0;
  readonly #logs = new LRUCache<string, Log>({
    maxSize: MAX_ENTRIES,
    sizeCalculation: (log) => log.entries.length + 1,
  });

  append(ownerId: string, update: ListUpdate): ListEntry {
    const { floor, entries } = this.#logs.get(ownerId) ?? { floor: this.#nextId(), entries: [] };
    const isOld = entries.some(({ subject, rank }) => subject === update.subject && rank > update.rank);
    const change = isOld ? null : update.change;
    const entry = { ...update, change, id: this.#nextId(), after: entries.at(-1)?.id ?? floor };
    const excess = entries.length - MAX_LOGGED_UPDATES + 1;
    const dropped = excess > 0 ? entries.splice(0, excess).at(-1) : undefined;
    entries.push(entry);
    // Set again, so that the cache recalculates its size.
    this.#logs.set(ownerId, { floor: dropped?.id ?? floor, entries });
    return entry;
  }

  /** Reads the entries after `after`; creates the log if there is none, so that its reader has a position. */
  read(ownerId: string, after: string | null): LoggedList {
    const log = this.#logs.get(ownerId) ?? { floor: this.#nextId(), entries: [] };
    if (!this.#logs.has(ownerId)) this.#logs.set(ownerId, log);
    const last = log.entries.at(-1)?.id ?? log.floor;
    if (after === null || after === last) return { last, entries: [] };
    if (after === log.floor) return { last, entries: [...log.entries] };
    const index = log.entries.findIndex(({ id }) => id === after);
    return { last, entries: index < 0 ? null : log.entries.slice(index + 1) };
  }

  #nextId(): string {
    this.#count += 1;
    return `${this.#epoch}-${this.#count}`;
  }
}
