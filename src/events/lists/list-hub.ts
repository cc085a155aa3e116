/**
 * The replica's watch over people's lists of chats: one channel per person however many subscribers, opened with the
 * first and closed with the last. Attach before you read.
 */
import type { RefreshReason } from "../../domain/chats/chat-stream.js";
import { decodeListCursor } from "../../domain/common/cursors.js";
import type { ChatListEventsSource, ListEvent } from "../../domain/chats/list-events.js";
import type { SubscriberMeter } from "../../domain/common/meters.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Bus } from "../bus/bus.js";
import { EventStream, type StreamBounds } from "../common/event-stream.js";
import { ListChannel, type ListSource } from "./list-channel.js";
import { ListReader } from "./list-reader.js";

/** How often all watched lists are weighed against the database, in one statement. */
const SWEEP_MS = 10_000;
/** A list that weighs otherwise is looked at again after this, when news on its way has arrived. */
const SECOND_LOOK_MS = 1_000;
/** A list's readers that fall behind are logged at most this often. */
const WARNING_INTERVAL_MS = 10_000;

export type ListHubParts = {
  source: ListSource;
  bus: Bus;
  clock: Clock;
  log: Log;
  /** Whether the chat's owner is looking at it, through this replica. */
  isFollowed(chatId: string): boolean;
  meter?: SubscriberMeter;
  streamBounds?: StreamBounds;
};

type Opening = {
  channel: ListChannel;
  attached: Promise<void>;
  detach: () => void;
  users: number;
  /** When falling behind was last logged, and what was dropped since. */
  warned: { at: number; dropped: number };
};

export class ListHub implements ChatListEventsSource {
  readonly #parts: ListHubParts;
  readonly #open = new Map<string, Opening>();
  readonly #doubted = new Set<ListChannel>();
  readonly #cancels: (() => void)[];
  #cancelSecondLook: (() => void) | null = null;
  #look: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: ListHubParts) {
    this.#parts = parts;
    const makeUp = () => {
      for (const { channel } of this.#open.values()) channel.heal();
      this.sweep();
    };
    this.#cancels = [parts.clock.every(SWEEP_MS, () => this.sweep()), parts.bus.onReturn(makeUp)];
  }

  /** How many people's lists are watched now. */
  get watchedLists(): number {
    return this.#open.size;
  }

  async subscribe({ userId }: Viewer, after: string | null): Promise<EventStream<ListEvent>> {
    const opening = this.#enter(userId);
    await opening.attached.catch((error: unknown) => {
      this.#leave(userId, opening);
      throw error;
    });
    const { channel } = opening;
    const reason: RefreshReason = after === null ? "first_snapshot" : "cursor_too_old";
    const stream: EventStream<ListEvent> = new EventStream(() => {
      channel.readers.delete(reader);
      this.#leave(userId, opening);
    }, this.#parts.streamBounds);
    const reader = new ListReader({
      stream,
      after: after === null ? null : decodeListCursor(after),
      isFollowed: (chatId) => this.#parts.isFollowed(chatId),
      fellBehind: (dropped) => {
        this.#parts.meter?.fellBehind("chat-list", dropped);
        this.#warn(userId, opening, dropped);
      },
      caughtBreath: (behind) => channel.join(behind, "fell_behind"),
    });
    channel.readers.add(reader);
    channel.join(reader, reason);
    return stream;
  }

  /** Weighs all watched lists; runs by itself, and when a bus has been away. */
  sweep(): void {
    this.#compare([...this.#open.values()].map(({ channel }) => channel));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancelSecondLook?.();
    for (const { channel } of [...this.#open.values()]) endAll(channel);
    await this.#look;
  }

  #enter(ownerId: string): Opening {
    const existing = this.#open.get(ownerId);
    if (existing) {
      existing.users += 1;
      return existing;
    }
    const { source, bus } = this.#parts;
    const channel = new ListChannel(ownerId, {
      source,
      bus,
      broken: (of, error) => this.#endBroken(of, error),
      doubted: (of) => this.#lookAgain(of),
    });
    const opening: Opening = {
      channel,
      attached: Promise.resolve(),
      detach: () => undefined,
      users: 1,
      warned: { at: -Infinity, dropped: 0 },
    };
    opening.attached = this.#attach(opening);
    this.#open.set(ownerId, opening);
    return opening;
  }

  async #attach(opening: Opening): Promise<void> {
    const { channel } = opening;
    const detach = await this.#parts.bus.subscribeList(channel.ownerId, (entry) => channel.take(entry));
    if (opening.users === 0) detach();
    else opening.detach = detach;
  }

  #leave(ownerId: string, opening: Opening): void {
    opening.users -= 1;
    if (opening.users > 0) return;
    if (this.#open.get(ownerId) === opening) this.#open.delete(ownerId);
    this.#doubted.delete(opening.channel);
    if (this.#doubted.size === 0) this.#forgetSecondLook();
    opening.detach();
  }

  #lookAgain(channel: ListChannel): void {
    if (this.#isClosed || channel.readers.size === 0) return;
    this.#doubted.add(channel);
    this.#cancelSecondLook ??= this.#parts.clock.after(SECOND_LOOK_MS, () => {
      this.#cancelSecondLook = null;
      const doubted = [...this.#doubted];
      // A look that is under way may have begun too early for them.
      if (this.#look) return doubted.forEach((waiting) => this.#lookAgain(waiting));
      this.#doubted.clear();
      this.#compare(doubted);
    });
  }

  #forgetSecondLook(): void {
    this.#cancelSecondLook?.();
    this.#cancelSecondLook = null;
  }

  #compare(channels: ListChannel[]): void {
    if (this.#look || this.#isClosed || channels.length === 0) return;
    const look = async () => {
      const weights = await this.#parts.source.readListWeights(channels.map(({ ownerId }) => ownerId));
      for (const channel of channels) channel.compare(weights.get(channel.ownerId) ?? 0);
    };
    this.#look = look()
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, "Lists of chats could not be weighed; the next sweep retries"),
      )
      .finally(() => (this.#look = null));
  }

  /** A channel that could not read is not to be trusted: its readers are ended and come back with their cursors. */
  #endBroken(channel: ListChannel, error: unknown): void {
    const { ownerId } = channel;
    this.#parts.log.error(
      { err: error, ownerId },
      "A list's event channel failed; its subscribers must resume",
    );
    endAll(channel);
  }

  #warn(ownerId: string, { warned }: Opening, dropped: number): void {
    const now = this.#parts.clock.now();
    warned.dropped += dropped;
    if (now - warned.at < WARNING_INTERVAL_MS) return;
    this.#parts.log.warn(
      { ownerId, dropped: warned.dropped },
      "A subscriber of a list fell behind; it was told to read the list anew",
    );
    Object.assign(warned, { at: now, dropped: 0 });
  }
}

function endAll(channel: ListChannel): void {
  for (const reader of [...channel.readers]) reader.end();
}
