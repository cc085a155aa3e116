/**
 * Marks chats as read while their owners follow them: when an owner subscribes, when a turn settles meanwhile, and when
 * the owner leaves. Marks are batched: one statement at a time, however many chats.
 *
 * A sweep marks all followed chats again, in case an event was lost or the database was away.
 */
import type { SavedChange } from "../../domain/chats/chat-events.js";
import { readUpdate, settlesTurn, type ReadChat } from "../../domain/chats/list-events.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Bus } from "./bus.js";

const SWEEP_MS = 10_000;
/**
 * Turns that settle within this time are marked by one statement. The delay is invisible: lists on this replica know
 * that the chat is open, and others are notified when the mark is made.
 */
const BATCH_DELAY_MS = 1_000;
/** Chats per statement. */
const BATCH = 500;
/** Chats that wait to be marked; beyond it only those still followed are marked, by the sweep. */
const MAX_WAITING = 20_000;

/** A chat and the user who reads it; only its owner's reading changes anything. */
export type Reading = { chatId: string; readerId: string };

export type ReadMarksDependencies = {
  bus: Bus;
  clock: Clock;
  log: Log;
  /** Returns the chats that had unread messages. */
  markRead(readings: Reading[]): Promise<ReadChat[]>;
};

export class ReadMarks {
  readonly #dependencies: ReadMarksDependencies;
  /** Followed chats, with the number of their owner's subscriptions on this replica. */
  readonly #followed = new Map<string, Reading & { followers: number }>();
  readonly #waiting = new Map<string, Reading>();
  readonly #stopSweep: () => void;
  #cancelBatchDelay: (() => void) | null = null;
  #isMarking = false;
  #marking: Promise<void> = Promise.resolve();

  constructor(dependencies: ReadMarksDependencies) {
    this.#dependencies = dependencies;
    this.#stopSweep = dependencies.clock.every(SWEEP_MS, () => this.#markAll([...this.#followed.values()]));
  }

  /** Chats followed by their owners now. */
  get followedChats(): number {
    return this.#followed.size;
  }

  isFollowed(chatId: string): boolean {
    return this.#followed.has(chatId);
  }

  /** Starts following for the chat's owner; the returned function ends it. */
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

  /** Receives the committed changes of any chat. */
  saved(change: SavedChange): void {
    const followed = this.#followed.get(change.chatId);
    if (!followed || !settlesTurn(change)) return;
    this.#enqueue([followed]);
    this.#cancelBatchDelay ??= this.#dependencies.clock.after(BATCH_DELAY_MS, () => this.#start());
  }

  /** Resolves when all waiting chats are marked. */
  async close(): Promise<void> {
    this.#stopSweep();
    this.#start();
    await this.#marking;
  }

  #markAll(readings: Reading[]): void {
    this.#enqueue(readings);
    this.#start();
  }

  #enqueue(readings: Reading[]): void {
    const capacity = MAX_WAITING - this.#waiting.size;
    for (const { chatId, readerId } of readings.slice(0, capacity))
      this.#waiting.set(chatId, { chatId, readerId });
    if (capacity < readings.length)
      this.#dependencies.log.warn(
        { skipped: readings.length - capacity },
        "too many chats wait to be marked as read",
      );
  }

  #start(): void {
    this.#cancelBatchDelay?.();
    this.#cancelBatchDelay = null;
    if (this.#waiting.size === 0 || this.#isMarking) return;
    this.#isMarking = true;
    this.#marking = this.#markWaiting();
  }

  /** Never rejects. */
  async #markWaiting(): Promise<void> {
    // Chats queued in the same turn of the event loop go into one statement.
    await Promise.resolve();
    while (this.#waiting.size > 0 && (await this.#mark([...this.#waiting.values()].slice(0, BATCH))));
    this.#isMarking = false;
  }

  /** False when the database fails: the batch then waits for the next sweep or the next reader. */
  async #mark(batch: Reading[]): Promise<boolean> {
    for (const { chatId } of batch) this.#waiting.delete(chatId);
    try {
      const read = await this.#dependencies.markRead(batch);
      for (const chat of read) this.#dependencies.bus.publishList(chat.ownerId, readUpdate(chat));
      return true;
    } catch (error) {
      this.#dependencies.log.warn(
        { err: error, chats: batch.length },
        "marking chats as read failed; retrying with the next sweep",
      );
      for (const reading of batch) this.#waiting.set(reading.chatId, reading);
      return false;
    }
  }
}
