/**
 * Hub for chat list subscriptions on this replica: one channel per user however many subscribers, opened with the first
 * and closed with the last. A channel attaches to the bus before it reads the list, so that no update is missed.
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

/** How often the checksums of all subscribed lists are compared with the database, in one statement. */
const SWEEP_MS = 10_000;
/** Delay before a list with a mismatch is checked again: by then updates in flight have arrived. */
const RECHECK_DELAY_MS = 1_000;
/** Slow readers of one list are logged at most this often. */
const WARNING_INTERVAL_MS = 10_000;

export type ListHubDependencies = {
  source: ListSource;
  bus: Bus;
  clock: Clock;
  log: Log;
  /** Whether the chat's owner follows it through this replica. */
  isFollowed(chatId: string): boolean;
  meter?: SubscriberMeter;
  streamBounds?: StreamBounds;
};

type Opening = {
  channel: ListChannel;
  attached: Promise<void>;
  detach: () => void;
  users: number;
  /** When an overflow was last logged, and the number of events dropped since. */
  warned: { at: number; dropped: number };
};

export class ListHub implements ChatListEventsSource {
  readonly #dependencies: ListHubDependencies;
  readonly #open = new Map<string, Opening>();
  /** Channels to be checked again. */
  readonly #unverified = new Set<ListChannel>();
  readonly #cancels: (() => void)[];
  #cancelRecheck: (() => void) | null = null;
  #check: Promise<void> | null = null;
  #isClosed = false;

  constructor(dependencies: ListHubDependencies) {
    this.#dependencies = dependencies;
    const healAll = () => {
      for (const { channel } of this.#open.values()) channel.heal();
      this.sweep();
    };
    this.#cancels = [
      dependencies.clock.every(SWEEP_MS, () => this.sweep()),
      dependencies.bus.onReconnect(healAll),
    ];
  }

  /** Number of lists with subscribers. */
  get subscribedLists(): number {
    return this.#open.size;
  }

  async subscribe({ userId }: Viewer, after: string | null): Promise<EventStream<ListEvent>> {
    const opening = this.#acquire(userId);
    await opening.attached.catch((error: unknown) => {
      this.#release(userId, opening);
      throw error;
    });
    const { channel } = opening;
    const reason: RefreshReason = after === null ? "first_snapshot" : "cursor_too_old";
    const stream: EventStream<ListEvent> = new EventStream(() => {
      channel.readers.delete(reader);
      this.#release(userId, opening);
    }, this.#dependencies.streamBounds);
    const reader = new ListReader({
      stream,
      after: after === null ? null : decodeListCursor(after),
      isFollowed: (chatId) => this.#dependencies.isFollowed(chatId),
      onOverflow: (dropped) => {
        this.#dependencies.meter?.fellBehind("chat-list", dropped);
        this.#warn(userId, opening, dropped);
      },
      onDrained: (behind) => channel.join(behind, "fell_behind"),
    });
    channel.readers.add(reader);
    channel.join(reader, reason);
    return stream;
  }

  /** Compares the checksums of all subscribed lists with the database. Also runs periodically. */
  sweep(): void {
    this.#verify([...this.#open.values()].map(({ channel }) => channel));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancelRecheck?.();
    for (const { channel } of [...this.#open.values()]) endAll(channel);
    await this.#check;
  }

  #acquire(ownerId: string): Opening {
    const existing = this.#open.get(ownerId);
    if (existing) {
      existing.users += 1;
      return existing;
    }
    const { source, bus } = this.#dependencies;
    const channel = new ListChannel(ownerId, {
      source,
      bus,
      onFailure: (failed, error) => this.#endFailed(failed, error),
      requestCheck: (unverified) => this.#scheduleRecheck(unverified),
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
    const detach = await this.#dependencies.bus.subscribeList(channel.ownerId, (entry) =>
      channel.receive(entry),
    );
    if (opening.users === 0) detach();
    else opening.detach = detach;
  }

  #release(ownerId: string, opening: Opening): void {
    opening.users -= 1;
    if (opening.users > 0) return;
    if (this.#open.get(ownerId) === opening) this.#open.delete(ownerId);
    this.#unverified.delete(opening.channel);
    if (this.#unverified.size === 0) this.#clearRecheck();
    opening.detach();
  }

  #scheduleRecheck(channel: ListChannel): void {
    if (this.#isClosed || channel.readers.size === 0) return;
    this.#unverified.add(channel);
    this.#cancelRecheck ??= this.#dependencies.clock.after(RECHECK_DELAY_MS, () => {
      this.#cancelRecheck = null;
      const unverified = [...this.#unverified];
      // A check that is running may have begun too early for them.
      if (this.#check) return unverified.forEach((waiting) => this.#scheduleRecheck(waiting));
      this.#unverified.clear();
      this.#verify(unverified);
    });
  }

  #clearRecheck(): void {
    this.#cancelRecheck?.();
    this.#cancelRecheck = null;
  }

  #verify(channels: ListChannel[]): void {
    if (this.#check || this.#isClosed || channels.length === 0) return;
    const check = async () => {
      const checksums = await this.#dependencies.source.readListChecksums(
        channels.map(({ ownerId }) => ownerId),
      );
      for (const channel of channels) channel.verify(checksums.get(channel.ownerId) ?? 0);
    };
    this.#check = check()
      .catch((error: unknown) =>
        this.#dependencies.log.warn(
          { err: error },
          "reading list checksums failed; retrying with the next sweep",
        ),
      )
      .finally(() => (this.#check = null));
  }

  /** Ends the readers of a channel whose read failed, since it may have missed updates; clients resume by cursor. */
  #endFailed(channel: ListChannel, error: unknown): void {
    const { ownerId } = channel;
    this.#dependencies.log.error(
      { err: error, ownerId },
      "chat list event channel failed; its subscribers must resume",
    );
    endAll(channel);
  }

  #warn(ownerId: string, { warned }: Opening, dropped: number): void {
    const now = this.#dependencies.clock.now();
    warned.dropped += dropped;
    if (now - warned.at < WARNING_INTERVAL_MS) return;
    this.#dependencies.log.warn(
      { ownerId, dropped: warned.dropped },
      "slow list subscriber; events dropped, it must refresh the list",
    );
    Object.assign(warned, { at: now, dropped: 0 });
  }
}

function endAll(channel: ListChannel): void {
  for (const reader of [...channel.readers]) reader.end();
}
