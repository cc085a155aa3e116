/**
 * Event channel of one subscribed chat list on this replica: sends the updates of a user's chats to all readers, in the
 * order of that user's log.
 *
 * Each entry names the one before it, so that a lost or late one is detected and read from the log. Updates that never
 * reached the log (the server died between commit and publish, or Redis was away) show in the list's checksum.
 */
import type { RefreshReason } from "../../domain/chats/chat-stream.js";
import { compareListIds, type ListEntry } from "../../domain/chats/list-events.js";
import type { Bus } from "../bus/bus.js";
import type { ListReader } from "./list-reader.js";
import { SerialQueue, type Task } from "../common/serial-queue.js";

/** Entries that may wait while something is read. Beyond it they are dropped, and read from the log instead. */
const MAX_WAITING_ENTRIES = 1_000;

/** Reads the checksums of lists from the database, in one statement; a list without chats is left out. */
export interface ListSource {
  readListChecksums(ownerIds: string[]): Promise<Map<string, number>>;
}

type ChannelDependencies = {
  source: ListSource;
  bus: Bus;
  /** Called when a read failed: the channel may have missed updates and must be closed. */
  onFailure(channel: ListChannel, error: unknown): void;
  /** Called when a reader's checksum differs, or was not checked yet: it should be checked soon. */
  requestCheck(channel: ListChannel): void;
};

export class ListChannel {
  readonly readers = new Set<ListReader>();
  readonly #queue: SerialQueue;
  /** The newest entry handled; null before the first reader, or without a log. */
  #position: string | null = null;
  /** The queue overflowed: a task that reads the dropped entries is queued. */
  #hasDropped = false;

  constructor(
    readonly ownerId: string,
    private readonly dependencies: ChannelDependencies,
  ) {
    this.#queue = new SerialQueue((error) => dependencies.onFailure(this, error));
  }

  /** Receives an entry from the bus. */
  receive(entry: ListEntry): void {
    this.#enqueue(() => this.#handle(entry));
  }

  /** Reads what the bus may have lost from the log. */
  heal(): void {
    this.#queue.run(() => this.#catchUp());
  }

  /** Sends a refresh or catch-up, then goes live. Also resumes a reader that fell behind, once its stream has drained. */
  join(reader: ListReader, reason: RefreshReason): void {
    // A subscriber that has just taken a refresh reads a list that contains every entry handled so far.
    const known = reader.isBehind ? this.#position : null;
    this.#queue.run(async () => {
      if (!this.readers.has(reader)) return;
      reader.isBehind = false;
      const replayed = await this.#replay(reader, { reason, known });
      if (!this.#liveReaders().some((other) => other !== reader)) this.#position = reader.position;
      reader.caughtUp(replayed);
      this.dependencies.requestCheck(this);
    });
  }

  /** Verifies the readers against the list's checksum, as read from the database a moment ago. */
  verify(checksum: number): void {
    this.#queue.run(async () => {
      if (this.#liveReaders().some((reader) => !reader.hasChecksum(checksum))) await this.#catchUp();
      const wrong = this.#liveReaders().filter((reader) => !reader.verify(checksum));
      for (const reader of wrong) reader.refresh("cursor_too_old", { position: reader.position, checksum });
      if (this.#liveReaders().some((reader) => reader.hasMismatch)) this.dependencies.requestCheck(this);
    });
  }

  #enqueue(task: Task): void {
    if (this.#hasDropped) return;
    if (this.#queue.waiting < MAX_WAITING_ENTRIES) return this.#queue.run(task);
    this.#hasDropped = true;
    this.#queue.run(() => {
      this.#hasDropped = false;
      return this.#catchUp();
    });
  }

  #handle(entry: ListEntry): void | Promise<void> {
    const { id, after } = entry;
    if (id !== null && this.#position !== null) {
      // A duplicate, or already read from the log.
      if (compareListIds(id, this.#position) <= 0) return;
      if (after !== this.#position) return this.#catchUp();
    }
    this.#position = id ?? this.#position;
    for (const reader of this.#liveReaders()) reader.send(entry);
  }

  async #catchUp(): Promise<void> {
    const { last, entries } = await this.dependencies.bus.readList(this.ownerId, this.#position);
    // Without a log the readers continue as they are; their checksums are verified later.
    if (last === null) return;
    const readers = this.#liveReaders();
    this.#position = last;
    if (entries === null) return this.#refresh(readers, last);
    for (const entry of entries) for (const reader of readers) reader.send(entry);
  }

  async #refresh(readers: ListReader[], position: string): Promise<void> {
    const checksum = await this.#readChecksum();
    for (const reader of readers) reader.refresh("cursor_too_old", { position, checksum });
  }

  /** Returns the number of replayed entries. */
  async #replay(
    reader: ListReader,
    joining: { reason: RefreshReason; known: string | null },
  ): Promise<number> {
    const { reason, known } = joining;
    const { last, entries } = await this.dependencies.bus.readList(this.ownerId, reader.position);
    if (reader.position !== null && entries !== null) {
      const isKnown = ({ id }: ListEntry) => id !== null && known !== null && compareListIds(id, known) <= 0;
      const missed = entries.filter((entry) => !isKnown(entry));
      for (const entry of entries.filter(isKnown)) reader.skip(entry);
      for (const entry of missed) reader.send(entry);
      return missed.length;
    }
    // Read after the position in the log: what is committed in between is sent twice rather than never.
    const state = { position: last, checksum: await this.#readChecksum() };
    reader.refresh(reader.position === null ? reason : "cursor_too_old", state);
    return 0;
  }

  async #readChecksum(): Promise<number> {
    return (await this.dependencies.source.readListChecksums([this.ownerId])).get(this.ownerId) ?? 0;
  }

  #liveReaders(): ListReader[] {
    return [...this.readers].filter((reader) => reader.isLive && !reader.isBehind);
  }
}
