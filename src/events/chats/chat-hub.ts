/**
 * Hub for chat subscriptions on this replica: one channel per chat however many subscribers, opened with the first
 * reader and closed with the last. A channel attaches to the bus before it reads the chat, so that no change is missed.
 */
import type { LiveBatch } from "../../domain/chats/chat-events.js";
import type { ChatEvent, ChatEventsSource } from "../../domain/chats/chat-stream.js";
import { decodeEventCursor } from "../../domain/common/cursors.js";
import type { SubscriberMeter } from "../../domain/common/meters.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Bus, PublishedChange } from "../bus/bus.js";
import { ChatChannel } from "./chat-channel.js";
import type { ChatSource } from "./chat-reads.js";
import { ChatReader } from "./chat-reader.js";
import { EventStream, type SharedBound, type StreamBounds } from "../common/event-stream.js";
import type { ReadMarks } from "../bus/read-marks.js";

/** How often the versions of all subscribed chats are compared with the database: heals whatever the bus lost. */
const SWEEP_MS = 10_000;
/** Slow readers of one chat are logged at most this often. */
const WARNING_INTERVAL_MS = 10_000;

/** Events buffered while a channel's first snapshot is read; if more arrive, the channel reads again. */
const MAX_EARLY_EVENTS = 1_000;

/** Database reads of the hub and its channels. */
export interface HubSource extends ChatSource {
  /** Snapshot versions of the chats that exist, in one statement. */
  readVersions(chatIds: string[]): Promise<Map<string, number>>;
}

export type ChatHubDependencies = {
  source: HubSource;
  bus: Bus;
  clock: Clock;
  log: Log;
  /** Notified when owners follow their chats, and of committed changes in subscribed ones. */
  readMarks?: Pick<ReadMarks, "follow" | "saved">;
  meter?: SubscriberMeter;
  streamBounds?: StreamBounds;
  /** Bound on the event bytes queued in all streams of one user; without it each stream only has its own bound. */
  waitingEvents?: { open(userId: string): SharedBound };
};

/** `channel` is null when the chat does not exist. */
type Opening = { channel: Promise<ChatChannel | null>; detach: () => void; users: number };

export class ChatHub implements ChatEventsSource {
  readonly #dependencies: ChatHubDependencies;
  readonly #open = new Map<string, Opening>();
  readonly #channels = new Map<string, ChatChannel>();
  readonly #warned = new Map<string, { at: number; dropped: number }>();
  readonly #stopSweep: () => void;
  #sweep: Promise<void> | null = null;

  constructor(dependencies: ChatHubDependencies) {
    this.#dependencies = dependencies;
    const stopClock = dependencies.clock.every(SWEEP_MS, () => this.sweep());
    const stopListening = dependencies.bus.onReconnect(() => this.#healAll());
    this.#stopSweep = () => {
      stopClock();
      stopListening();
    };
  }

  /** Number of chats with subscribers. */
  get subscribedChats(): number {
    return this.#open.size;
  }

  async subscribe(
    viewer: Viewer,
    chatId: string,
    after: string | null,
  ): Promise<EventStream<ChatEvent> | null> {
    const opening = this.#acquire(chatId);
    const channel = await opening.channel.catch((error: unknown) => {
      this.#release(chatId, opening);
      throw error;
    });
    if (!channel || (channel.ownerId !== viewer.userId && viewer.role !== "admin")) {
      this.#release(chatId, opening);
      return null;
    }
    const isOwn = channel.ownerId === viewer.userId;
    const unfollow = isOwn ? this.#dependencies.readMarks?.follow(chatId, viewer.userId) : undefined;
    const stream: EventStream<ChatEvent> = new EventStream(
      () => {
        unfollow?.();
        channel.readers.delete(reader);
        this.#release(chatId, opening);
      },
      ...this.#boundsOf(viewer),
    );
    const reader = new ChatReader({
      chatId,
      shared: channel.shared,
      stream,
      after: after === null ? null : (decodeEventCursor(after) ?? INVALID_CURSOR),
      onOverflow: (_reader, dropped) => {
        this.#dependencies.meter?.fellBehind("chat", dropped);
        this.#warn(chatId, dropped);
      },
      onDrained: (behind) => channel.join(behind),
    });
    channel.readers.add(reader);
    channel.join(reader);
    return stream;
  }

  #boundsOf({ userId }: Viewer): [StreamBounds | undefined, SharedBound | undefined] {
    return [this.#dependencies.streamBounds, this.#dependencies.waitingEvents?.open(userId)];
  }

  /** Compares the versions of all subscribed chats with the database. Also runs periodically. */
  sweep(): void {
    this.#sweep ??= this.#compareVersions()
      .catch((error: unknown) =>
        this.#dependencies.log.warn(
          { err: error },
          "chat version sweep failed; retrying with the next sweep",
        ),
      )
      .finally(() => (this.#sweep = null));
  }

  /** Reads the changes and deltas that the bus lost while it was disconnected. */
  #healAll(): void {
    for (const channel of this.#channels.values()) channel.heal();
  }

  async close(): Promise<void> {
    this.#stopSweep();
    for (const channel of this.#channels.values()) {
      for (const reader of [...channel.readers]) reader.end();
    }
    await this.#sweep;
  }

  #acquire(chatId: string): Opening {
    const existing = this.#open.get(chatId);
    if (existing) {
      existing.users += 1;
      return existing;
    }
    const opening: Opening = { users: 1, detach: () => undefined, channel: Promise.resolve(null) };
    opening.channel = this.#openChannel(chatId, opening);
    this.#open.set(chatId, opening);
    return opening;
  }

  #release(chatId: string, opening: Opening): void {
    opening.users -= 1;
    if (opening.users > 0) return;
    if (this.#open.get(chatId) === opening) {
      this.#open.delete(chatId);
      this.#channels.delete(chatId);
      this.#warned.delete(chatId);
    }
    opening.detach();
  }

  async #openChannel(chatId: string, opening: Opening): Promise<ChatChannel | null> {
    const early: (PublishedChange | LiveBatch)[] = [];
    let channel: ChatChannel | null = null;
    const buffer = (event: PublishedChange | LiveBatch) =>
      void (early.length <= MAX_EARLY_EVENTS && early.push(event));
    const detach = await this.#dependencies.bus.subscribeChat(chatId, {
      saved: (change) => {
        if (channel) channel.saved(change);
        else buffer(change);
        this.#dependencies.readMarks?.saved(change);
      },
      live: (batch) => (channel ? channel.live(batch) : buffer(batch)),
    });
    if (opening.users === 0) detach();
    else opening.detach = detach;
    const snapshot = await this.#dependencies.source.readChat(chatId);
    if (!snapshot) return null;
    const { source, bus } = this.#dependencies;
    const onFailure = (failed: ChatChannel, error: unknown) => this.#endFailed(failed, error);
    channel = new ChatChannel(chatId, snapshot, { source, bus, onFailure });
    if (this.#open.get(chatId) === opening) this.#channels.set(chatId, channel);
    for (const event of early) {
      if ("state" in event) channel.saved(event);
      else channel.live(event);
    }
    if (early.length > MAX_EARLY_EVENTS) channel.heal();
    return channel;
  }

  /** Ends the readers of a channel whose read failed, since its view may be incomplete; clients resume by cursor. */
  #endFailed(channel: ChatChannel, error: unknown): void {
    this.#dependencies.log.error(
      { err: error, chatId: channel.chatId },
      "chat event channel failed; its subscribers must resume",
    );
    for (const reader of [...channel.readers]) reader.end();
  }

  async #compareVersions(): Promise<void> {
    const subscribed = [...this.#channels.values()];
    if (subscribed.length === 0) return;
    const versions = await this.#dependencies.source.readVersions(
      subscribed.map((channel) => channel.chatId),
    );
    for (const channel of subscribed) {
      if ((versions.get(channel.chatId) ?? Infinity) > channel.version) channel.heal();
    }
  }

  #warn(chatId: string, dropped: number): void {
    const now = this.#dependencies.clock.now();
    const last = this.#warned.get(chatId);
    const total = (last?.dropped ?? 0) + dropped;
    if (last && now - last.at < WARNING_INTERVAL_MS) {
      last.dropped = total;
      return;
    }
    this.#warned.set(chatId, { at: now, dropped: 0 });
    this.#dependencies.log.warn(
      { chatId, dropped: total },
      "slow subscriber; events dropped, it must refresh the chat",
    );
  }
}

/** Replaces a cursor that cannot be decoded: beyond every version, so that the reader gets a refresh. */
const INVALID_CURSOR = {
  position: { version: Number.MAX_SAFE_INTEGER, stage: 0, messageId: 0 },
  generation: null,
  sequence: 0,
};
