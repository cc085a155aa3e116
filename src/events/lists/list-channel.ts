/**
 * One watched list on this replica: the news of a person's chats, in the order of that person's log, for all readers.
 *
 * Each entry names the one before it, so that a lost or late one is noticed and read from the log. What never reached
 * the log (its server died between commit and news, or Redis was away) shows in the list's weight.
 */
import type { RefreshReason } from "../../domain/chats/chat-stream.js";
import { compareListIds, type ListEntry } from "../../domain/chats/list-events.js";
import type { Bus } from "../bus/bus.js";
import type { ListReader } from "./list-reader.js";
import { OneByOne, type Work } from "../common/serial-queue.js";

/** News that may wait while something is read. Beyond it news is dropped, and read from the log instead. */
const MAX_WAITING_NEWS = 1_000;

/** What lists weigh in the database, in one statement; a list without chats is left out. */
export interface ListSource {
  readListWeights(ownerIds: string[]): Promise<Map<string, number>>;
}

type ChannelParts = {
  source: ListSource;
  bus: Bus;
  /** Hears of a read that failed: this channel is then not to be trusted any more. */
  broken(channel: ListChannel, error: unknown): void;
  /** Some reader's list seems wrong, or was not looked at yet: look again soon. */
  doubted(channel: ListChannel): void;
};

export class ListChannel {
  readonly readers = new Set<ListReader>();
  readonly #work: OneByOne;
  /** The newest entry handled; null before the first reader, or without a log. */
  #position: string | null = null;
  /** Too much waited: the work that reads what was dropped is on its way. */
  #hasDropped = false;

  constructor(
    readonly ownerId: string,
    private readonly parts: ChannelParts,
  ) {
    this.#work = new OneByOne((error) => parts.broken(this, error));
  }

  /** The bus brings an entry. */
  take(entry: ListEntry): void {
    this.#hear(() => this.#take(entry));
  }

  /** Reads from the log what the bus may have lost. */
  heal(): void {
    this.#work.do(() => this.#catchUp());
  }

  /** Refresh or catch-up, then live. Also for a reader that fell behind and has caught breath. */
  join(reader: ListReader, reason: RefreshReason): void {
    // Who has just taken a refresh reads a list that holds all we have heard of.
    const known = reader.isBehind ? this.#position : null;
    this.#work.do(async () => {
      if (!this.readers.has(reader)) return;
      reader.isBehind = false;
      const replayed = await this.#replay(reader, { reason, known });
      if (!this.#liveReaders().some((other) => other !== reader)) this.#position = reader.position;
      reader.caughtUp(replayed);
      this.parts.doubted(this);
    });
  }

  /** `weight` is what the list weighed in the database a moment ago. */
  compare(weight: number): void {
    this.#work.do(async () => {
      if (this.#liveReaders().some((reader) => !reader.weighs(weight))) await this.#catchUp();
      const wrong = this.#liveReaders().filter((reader) => !reader.believes(weight));
      for (const reader of wrong) reader.refresh("cursor_too_old", { position: reader.position, weight });
      if (this.#liveReaders().some((reader) => reader.isDoubting)) this.parts.doubted(this);
    });
  }

  #hear(work: Work): void {
    if (this.#hasDropped) return;
    if (this.#work.waiting < MAX_WAITING_NEWS) return this.#work.do(work);
    this.#hasDropped = true;
    this.#work.do(() => {
      this.#hasDropped = false;
      return this.#catchUp();
    });
  }

  #take(entry: ListEntry): void | Promise<void> {
    const { id, after } = entry;
    if (id !== null && this.#position !== null) {
      // Doubled, or read from the log before it came.
      if (compareListIds(id, this.#position) <= 0) return;
      if (after !== this.#position) return this.#catchUp();
    }
    this.#position = id ?? this.#position;
    for (const reader of this.#liveReaders()) reader.tell(entry);
  }

  async #catchUp(): Promise<void> {
    const { last, entries } = await this.parts.bus.readList(this.ownerId, this.#position);
    // Without a log the readers go on as they are; their lists are weighed.
    if (last === null) return;
    const readers = this.#liveReaders();
    this.#position = last;
    if (entries === null) return this.#refresh(readers, last);
    for (const entry of entries) for (const reader of readers) reader.tell(entry);
  }

  async #refresh(readers: ListReader[], position: string): Promise<void> {
    const weight = await this.#weigh();
    for (const reader of readers) reader.refresh("cursor_too_old", { position, weight });
  }

  /** How many entries were told again. */
  async #replay(
    reader: ListReader,
    joining: { reason: RefreshReason; known: string | null },
  ): Promise<number> {
    const { reason, known } = joining;
    const { last, entries } = await this.parts.bus.readList(this.ownerId, reader.position);
    if (reader.position !== null && entries !== null) {
      const isKnown = ({ id }: ListEntry) => id !== null && known !== null && compareListIds(id, known) <= 0;
      const missed = entries.filter((entry) => !isKnown(entry));
      for (const entry of entries.filter(isKnown)) reader.pass(entry);
      for (const entry of missed) reader.tell(entry);
      return missed.length;
    }
    // Weighed after its place in the log is known: what is committed in between is told twice rather than never.
    const place = { position: last, weight: await this.#weigh() };
    reader.refresh(reader.position === null ? reason : "cursor_too_old", place);
    return 0;
  }

  async #weigh(): Promise<number> {
    return (await this.parts.source.readListWeights([this.ownerId])).get(this.ownerId) ?? 0;
  }

  #liveReaders(): ListReader[] {
    return [...this.readers].filter((reader) => reader.isLive && !reader.isBehind);
  }
}
