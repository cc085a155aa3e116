/**
 * One subscriber of a user's chat list: its position in the log, the checksum that its list has if it missed nothing,
 * and the mapping of entries to its events.
 */
import type { RefreshReason } from "../../domain/chats/chat-stream.js";
import { encodeListCursor } from "../../domain/common/cursors.js";
import {
  compareListIds,
  type ListChange,
  type ListCursor,
  type ListEntry,
  type ListEvent,
} from "../../domain/chats/list-events.js";
import type { EventStream } from "../common/event-stream.js";

/** Every event of a list is small: a title has at most 200 characters. */
const EVENT_BYTES = 512;
/** The checksum of a busy list may differ at any single check; after this many in a row the list is wrong. */
const MAX_MISMATCHES = 5;

export type ListReaderOptions = {
  stream: EventStream<ListEvent>;
  /** The position to resume from; null = a new subscriber. */
  after: ListCursor | null;
  /** Whether the list's owner follows the chat through this replica. */
  isFollowed(chatId: string): boolean;
  /** The stream was full: called with the number of discarded events. */
  onOverflow(dropped: number): void;
  /** The subscriber has taken its refresh, and the reader may join again. */
  onDrained(reader: ListReader): void;
};

type ListState = { position: string | null; checksum: number };
type EventBody<E = ListEvent> = E extends ListEvent ? Omit<E, "cursor"> : never;

export class ListReader {
  /** False until it has had its refresh or catch-up. */
  isLive = false;
  /** Its stream overflowed: it gets nothing until it has taken the refresh and joined again. */
  isBehind = false;
  /** The newest entry sent. */
  position: string | null;
  #checksum: number;
  /** The checksum's last difference, and the number of checks in a row with one. */
  #mismatch: { difference: number; checks: number } | null = null;
  readonly #options: ListReaderOptions;

  constructor(options: ListReaderOptions) {
    this.#options = options;
    this.position = options.after?.id ?? null;
    this.#checksum = options.after?.checksum ?? 0;
  }

  /** Sends an entry unless the reader has had it. */
  send(entry: ListEntry): void {
    if (this.#moveTo(entry) && entry.change !== null) this.#push(this.#withReadState(entry.change));
  }

  /** Moves past an entry that the refreshed list already contains. */
  skip(entry: ListEntry): void {
    this.#moveTo(entry);
  }

  refresh(reason: RefreshReason, { position, checksum }: ListState): void {
    this.position = position;
    this.#checksum = checksum;
    this.#mismatch = null;
    this.#push({ type: "refresh", reason });
  }

  caughtUp(replayedEvents: number): void {
    this.#push({ type: "caught-up", replayedEvents });
    this.isLive = !this.isBehind;
  }

  hasChecksum(checksum: number): boolean {
    return this.#checksum === checksum;
  }

  /**
   * Compares the reader's checksum with that of the database. Updates in flight make it differ for a moment; false when
   * it differs persistently, so that the reader has missed an update that is in no log.
   */
  verify(checksum: number): boolean {
    const difference = checksum - this.#checksum;
    if (difference === 0) {
      this.#mismatch = null;
      return true;
    }
    const checks = (this.#mismatch?.checks ?? 0) + 1;
    const isPersistent = this.#mismatch?.difference === difference;
    this.#mismatch = { difference, checks };
    return !isPersistent && checks < MAX_MISMATCHES;
  }

  get hasMismatch(): boolean {
    return this.#mismatch !== null;
  }

  end(): void {
    this.#options.stream.end();
  }

  /** False when the reader has had the entry. */
  #moveTo({ id, checksumDelta: weight }: ListEntry): boolean {
    if (this.isBehind) return false;
    if (id !== null) {
      if (this.position !== null && compareListIds(id, this.position) <= 0) return false;
      this.position = id;
    }
    this.#checksum += weight;
    return true;
  }

  /** A followed chat is read: an entry that says otherwise was written before it was marked. */
  #withReadState(change: ListChange): EventBody {
    const isRead = change.type === "status" && this.#options.isFollowed(change.chatId);
    return isRead ? { ...change, isUnread: false } : change;
  }

  #push(body: EventBody): void {
    if (this.isBehind) return;
    const { stream } = this.#options;
    if (stream.push(this.#withCursor(body), EVENT_BYTES)) return;
    this.isLive = false;
    this.isBehind = true;
    const refresh = this.#withCursor({ type: "refresh", reason: "fell_behind" });
    const dropped = stream.replaceAll(refresh, () => this.#options.onDrained(this));
    this.#options.onOverflow(dropped + 1);
  }

  #withCursor(body: EventBody): ListEvent {
    return { cursor: encodeListCursor(this.position, this.#checksum), ...body };
  }
}
