/**
 * One subscriber of a person's list: where it stands in the log, what its list weighs if it missed nothing, and how
 * entries become its events.
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
/** A list that is in motion may weigh otherwise at any single look; at so many in a row it is wrong. */
const MAX_DOUBTS = 5;

export type ListReaderOptions = {
  stream: EventStream<ListEvent>;
  /** Where the reader returns to; null begins anew. */
  after: ListCursor | null;
  /** Whether the list's owner is looking at the chat, through this replica. */
  isFollowed(chatId: string): boolean;
  /** The stream was full: called with the number of events thrown away. */
  fellBehind(dropped: number): void;
  /** The reader has taken its refresh and may be told things again. */
  caughtBreath(reader: ListReader): void;
};

type Place = { position: string | null; weight: number };
type EventBody<E = ListEvent> = E extends ListEvent ? Omit<E, "cursor"> : never;

export class ListReader {
  /** False until it has had its refresh or catch-up. */
  isLive = false;
  /** Its stream was full: it is told nothing until it has taken the refresh and joined again. */
  isBehind = false;
  /** The newest entry that it was told. */
  position: string | null;
  #weight: number;
  /** How far the list's weight was off at the last looks in a row. */
  #doubt: { difference: number; looks: number } | null = null;
  readonly #options: ListReaderOptions;

  constructor(options: ListReaderOptions) {
    this.#options = options;
    this.position = options.after?.id ?? null;
    this.#weight = options.after?.weight ?? 0;
  }

  /** Tells an entry unless the reader has had it. */
  tell(entry: ListEntry): void {
    if (this.#moveTo(entry) && entry.change !== null) this.#push(this.#shown(entry.change));
  }

  /** The reader knows what the entry says, from the list itself. */
  pass(entry: ListEntry): void {
    this.#moveTo(entry);
  }

  refresh(reason: RefreshReason, { position, weight }: Place): void {
    this.position = position;
    this.#weight = weight;
    this.#doubt = null;
    this.#push({ type: "refresh", reason });
  }

  caughtUp(replayedEvents: number): void {
    this.#push({ type: "caught-up", replayedEvents });
    this.isLive = !this.isBehind;
  }

  weighs(weight: number): boolean {
    return this.#weight === weight;
  }

  /**
   * What the database says the list weighs. News that is on its way makes it differ for a moment; false when it
   * differs for good, so that the reader has missed something that no log holds.
   */
  believes(weight: number): boolean {
    const difference = weight - this.#weight;
    if (difference === 0) {
      this.#doubt = null;
      return true;
    }
    const looks = (this.#doubt?.looks ?? 0) + 1;
    const isSettled = this.#doubt?.difference === difference;
    this.#doubt = { difference, looks };
    return !isSettled && looks < MAX_DOUBTS;
  }

  get isDoubting(): boolean {
    return this.#doubt !== null;
  }

  end(): void {
    this.#options.stream.end();
  }

  /** False when the reader has had the entry. */
  #moveTo({ id, weight }: ListEntry): boolean {
    if (this.isBehind) return false;
    if (id !== null) {
      if (this.position !== null && compareListIds(id, this.position) <= 0) return false;
      this.position = id;
    }
    this.#weight += weight;
    return true;
  }

  /** Who looks at a chat has read it: what says otherwise was written before. */
  #shown(change: ListChange): EventBody {
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
    const dropped = stream.replaceAll(refresh, () => this.#options.caughtBreath(this));
    this.#options.fellBehind(dropped + 1);
  }

  #withCursor(body: EventBody): ListEvent {
    return { ...body, cursor: encodeListCursor(this.position, this.#weight) };
  }
}
