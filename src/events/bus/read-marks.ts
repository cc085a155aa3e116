/**
 * Marks chats as read while their owners look at them: when an owner begins to follow a chat, when a turn comes to
 * rest meanwhile, and when the owner leaves. Marks are gathered: one statement at a time, however many chats.
 *
 * A sweep marks once more what is followed, in case news of a rest was lost or the database was away.
 */
import type { SavedNews } from "../../domain/chats/chat-events.js";
import { readNews, restsNow, type ReadChat } from "../../domain/chats/list-events.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Bus } from "./bus.js";

const SWEEP_MS = 10_000;
/**
 * Turns that come to rest within this time are marked by one statement. Nobody sees the delay: lists of this replica
 * know that the chat is open, and others hear of the mark when it is made.
 */
const GATHER_RESTS_MS = 1_000;
/** Chats per statement. */
const BATCH = 500;
/** Chats that wait for their mark; beyond it only those still followed are marked, by the sweep. */
const MAX_WAITING = 20_000;

/** A chat and who looks at it; others than its owner change nothing. */
export type Reading = { chatId: string; readerId: string };

export type ReadMarksParts = {
  bus: Bus;
  clock: Clock;
  log: Log;
  /** Those of the chats in which something was unread. */
  markRead(readings: Reading[]): Promise<ReadChat[]>;
};

export class ReadMarks {
  readonly #parts: ReadMarksParts;
  /** How many of its owner's subscriptions each chat has here. */
  readonly #followed = new Map<string, Reading & { followers: number }>();
  readonly #waiting = new Map<string, Reading>();
  readonly #stopSweep: () => void;
  #cancelGathering: (() => void) | null = null;
  #isMarking = false;
  #marking: Promise<void> = Promise.resolve();

  constructor(parts: ReadMarksParts) {
    this.#parts = parts;
    this.#stopSweep = parts.clock.every(SWEEP_MS, () => this.#markAll([...this.#followed.values()]));
  }

  /** How many chats are looked at by their owners now. */
  get followedChats(): number {
    return this.#followed.size;
  }

  isFollowed(chatId: string): boolean {
    return this.#followed.has(chatId);
  }

  /** The chat's owner begins to look at it; the result is called when that is over. */
  follow(chatId: string, ownerId: string): () => void {
    const followed = this.#followed.get(chatId) ?? { chatId, readerId: ownerId, followers: 0 };
    followed.followers += 1;
    this.#followed.set(chatId, followed);
    this.#markAll([followed]);
    return () => {
      followed.followers -= 1;
      if (followed.followers > 0) return;
      this.#followed.delete(chatId);
      this.#markAll([followed]);
    };
  }

  /** News of any chat. */
  saved(news: SavedNews): void {
    const followed = this.#followed.get(news.chatId);
    if (!followed || !restsNow(news)) return;
    this.#wait([followed]);
    this.#cancelGathering ??= this.#parts.clock.after(GATHER_RESTS_MS, () => this.#start());
  }

  /** Resolves when what waited is marked. */
  async close(): Promise<void> {
    this.#stopSweep();
    this.#start();
    await this.#marking;
  }

  #markAll(readings: Reading[]): void {
    this.#wait(readings);
    this.#start();
  }

  #wait(readings: Reading[]): void {
    const places = MAX_WAITING - this.#waiting.size;
    for (const { chatId, readerId } of readings.slice(0, places))
      this.#waiting.set(chatId, { chatId, readerId });
    if (places < readings.length)
      this.#parts.log.warn(
        { passedOver: readings.length - places },
        "Too many chats wait to be marked as read",
      );
  }

  #start(): void {
    this.#cancelGathering?.();
    this.#cancelGathering = null;
    if (this.#waiting.size === 0 || this.#isMarking) return;
    this.#isMarking = true;
    this.#marking = this.#work();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    // What is asked for in one moment goes into one statement.
    await Promise.resolve();
    while (this.#waiting.size > 0 && (await this.#mark([...this.#waiting.values()].slice(0, BATCH))));
    this.#isMarking = false;
  }

  /** False when the database fails: the batch then waits for the next sweep, or the next reader. */
  async #mark(batch: Reading[]): Promise<boolean> {
    for (const { chatId } of batch) this.#waiting.delete(chatId);
    try {
      const read = await this.#parts.markRead(batch);
      for (const chat of read) this.#parts.bus.publishList(chat.ownerId, readNews(chat));
      return true;
    } catch (error) {
      this.#parts.log.warn({ err: error, chats: batch.length }, "Chats could not be marked as read");
      for (const reading of batch) this.#waiting.set(reading.chatId, reading);
      return false;
    }
  }
}
