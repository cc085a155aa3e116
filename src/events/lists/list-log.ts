/**
 * The newest list news of each person, in memory: what a returning subscriber missed. Gone with the process, whose
 * successor draws other numbers, so that an old place is recognised as such.
 */
import { randomInt } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ListEntry, ListNews } from "../../domain/chats/list-events.js";
import type { LoggedList } from "../bus/bus.js";

/** News kept per person; whoever missed more reads the list anew. */
export const MAX_LOGGED_NEWS = 256;
/** All persons' logs together, about 25 MB; those quiet for longest go first. */
const MAX_ENTRIES = 100_000;
/** The greatest number that `randomInt` draws from. */
const MAX_EPOCH = 2 ** 48 - 1;

/** `floor` is the place before the oldest entry. */
type Log = { floor: string; entries: (ListEntry & { id: string })[] };

export class ListLog {
  readonly #epoch = randomInt(MAX_EPOCH);
  /** Counts over all persons, so that a place in one's log is never one in another's. */
  #count = 0;
  readonly #logs = new LRUCache<string, Log>({
    maxSize: MAX_ENTRIES,
    sizeCalculation: (log) => log.entries.length + 1,
  });

  append(ownerId: string, news: ListNews): ListEntry {
    const { floor, entries } = this.#logs.get(ownerId) ?? { floor: this.#nextId(), entries: [] };
    const isOld = entries.some(({ about, rank }) => about === news.about && rank > news.rank);
    const change = isOld ? null : news.change;
    const entry = { ...news, change, id: this.#nextId(), after: entries.at(-1)?.id ?? floor };
    const excess = entries.length - MAX_LOGGED_NEWS + 1;
    const dropped = excess > 0 ? entries.splice(0, excess).at(-1) : undefined;
    entries.push(entry);
    // Set anew, for the cache to count it anew.
    this.#logs.set(ownerId, { floor: dropped?.id ?? floor, entries });
    return entry;
  }

  /** What came behind `after`; a log begins with its first reader at the latest. */
  read(ownerId: string, after: string | null): LoggedList {
    const log = this.#logs.get(ownerId) ?? { floor: this.#nextId(), entries: [] };
    if (!this.#logs.has(ownerId)) this.#logs.set(ownerId, log);
    const last = log.entries.at(-1)?.id ?? log.floor;
    if (after === null || after === last) return { last, entries: [] };
    if (after === log.floor) return { last, entries: [...log.entries] };
    const place = log.entries.findIndex(({ id }) => id === after);
    return { last, entries: place < 0 ? null : log.entries.slice(place + 1) };
  }

  #nextId(): string {
    this.#count += 1;
    return `${this.#epoch}-${this.#count}`;
  }
}
