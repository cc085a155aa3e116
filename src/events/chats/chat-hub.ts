/**
 * The replica's watch over chats: one channel per chat however many viewers, opened with the first reader and
 * closed with the last. Attach before you read: a channel listens to the bus before it reads the chat.
 */
import type { LiveBatch } from "../../domain/chats/chat-events.js";
import type { ChatEvent, ChatEventsSource } from "../../domain/chats/chat-stream.js";
import { decodeEventCursor } from "../../domain/common/cursors.js";
import type { SubscriberMeter } from "../../domain/common/meters.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Bus, HeardNews } from "../bus/bus.js";
import { ChatChannel } from "./chat-channel.js";
import type { ChatSource } from "./chat-reads.js";
import { ChatReader } from "./chat-reader.js";
import { EventStream, type SharedBound, type StreamBounds } from "../common/event-stream.js";
import type { ReadMarks } from "../bus/read-marks.js";

/** How often the versions of all watched chats are compared with the database: heals whatever the bus lost. */
const SWEEP_MS = 10_000;
/** A chat's readers that fall behind are logged at most this often. */
const WARNING_INTERVAL_MS = 10_000;

/** News kept while a channel's first snapshot is read; if more came, the channel reads once more. */
const MAX_EARLY_NEWS = 1_000;

/** What the hub reads besides each channel's own reads. */
export interface HubSource extends ChatSource {
  /** The snapshot versions of those of the chats that exist, in one statement. */
  readVersions(chatIds: string[]): Promise<Map<string, number>>;
}

export type HubParts = {
  source: HubSource;
  bus: Bus;
  clock: Clock;
  log: Log;
  /** Hears who looks at their own chats, and of what is saved in watched ones. */
  reads?: Pick<ReadMarks, "follow" | "saved">;
  meter?: SubscriberMeter;
  streamBounds?: StreamBounds;
  /** Bytes of events that wait in all streams of each reader; without it each stream has its own bound alone. */
  waitingEvents?: { open(userId: string): SharedBound };
};

/** `channel` is null when the chat does not exist. */
type Opening = { channel: Promise<ChatChannel | null>; detach: () => void; users: number };

export class ChatHub implements ChatEventsSource {
  readonly #parts: HubParts;
  readonly #open = new Map<string, Opening>();
  readonly #channels = new Map<string, ChatChannel>();
  readonly #warned = new Map<string, { at: number; dropped: number }>();
  readonly #stopSweep: () => void;
  #sweep: Promise<void> | null = null;

  constructor(parts: HubParts) {
    this.#parts = parts;
    const stopClock = parts.clock.every(SWEEP_MS, () => this.sweep());
    const stopListening = parts.bus.onReturn(() => this.#makeUp());
    this.#stopSweep = () => {
      stopClock();
      stopListening();
    };
  }

  /** How many chats are watched now. */
  get watchedChats(): number {
    return this.#open.size;
  }

  async subscribe(
    viewer: Viewer,
    chatId: string,
    after: string | null,
  ): Promise<EventStream<ChatEvent> | null> {
    const opening = this.#enter(chatId);
    const channel = await opening.channel.catch((error: unknown) => {
      this.#leave(chatId, opening);
      throw error;
    });
    if (!channel || (channel.ownerId !== viewer.userId && viewer.role !== "admin")) {
      this.#leave(chatId, opening);
      return null;
    }
    const isOwn = channel.ownerId === viewer.userId;
    const unfollow = isOwn ? this.#parts.reads?.follow(chatId, viewer.userId) : undefined;
    const stream: EventStream<ChatEvent> = new EventStream(
      () => {
        unfollow?.();
        channel.readers.delete(reader);
        this.#leave(chatId, opening);
      },
      ...this.#boundsOf(viewer),
    );
    const reader = new ChatReader({
      chatId,
      shared: channel.shared,
      stream,
      after: after === null ? null : (decodeEventCursor(after) ?? UNUSABLE),
      fellBehind: (_reader, dropped) => {
        this.#parts.meter?.fellBehind("chat", dropped);
        this.#warn(chatId, dropped);
      },
      caughtBreath: (behind) => channel.join(behind),
    });
    channel.readers.add(reader);
    channel.join(reader);
    return stream;
  }

  #boundsOf({ userId }: Viewer): [StreamBounds | undefined, SharedBound | undefined] {
    return [this.#parts.streamBounds, this.#parts.waitingEvents?.open(userId)];
  }

  /** Compares the versions of all watched chats with the database; runs by itself, and when a bus has been away. */
  sweep(): void {
    this.#sweep ??= this.#compareVersions()
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, "The version sweep failed; the next one retries"),
      )
      .finally(() => (this.#sweep = null));
  }

  /** The bus has been away: saved news and pieces that it lost are read. */
  #makeUp(): void {
    for (const channel of this.#channels.values()) channel.heal();
  }

  async close(): Promise<void> {
    this.#stopSweep();
    for (const channel of this.#channels.values()) {
      for (const reader of [...channel.readers]) reader.end();
    }
    await this.#sweep;
  }

  #enter(chatId: string): Opening {
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

  #leave(chatId: string, opening: Opening): void {
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
    const early: (HeardNews | LiveBatch)[] = [];
    let channel: ChatChannel | null = null;
    const wait = (news: HeardNews | LiveBatch) => void (early.length <= MAX_EARLY_NEWS && early.push(news));
    const detach = await this.#parts.bus.subscribeChat(chatId, {
      saved: (news) => {
        if (channel) channel.saved(news);
        else wait(news);
        this.#parts.reads?.saved(news);
      },
      live: (batch) => (channel ? channel.live(batch) : wait(batch)),
    });
    if (opening.users === 0) detach();
    else opening.detach = detach;
    const snapshot = await this.#parts.source.readChat(chatId);
    if (!snapshot) return null;
    const { source, bus } = this.#parts;
    const broken = (of: ChatChannel, error: unknown) => this.#endBroken(of, error);
    channel = new ChatChannel(chatId, snapshot, { source, bus, broken });
    if (this.#open.get(chatId) === opening) this.#channels.set(chatId, channel);
    for (const news of early) {
      if ("state" in news) channel.saved(news);
      else channel.live(news);
    }
    if (early.length > MAX_EARLY_NEWS) channel.heal();
    return channel;
  }

  /** A channel that could not read is not to be trusted: its readers are ended and come back with their cursors. */
  #endBroken(channel: ChatChannel, error: unknown): void {
    this.#parts.log.error(
      { err: error, chatId: channel.chatId },
      "A chat's event channel failed; its subscribers must resume",
    );
    for (const reader of [...channel.readers]) reader.end();
  }

  async #compareVersions(): Promise<void> {
    const watched = [...this.#channels.values()];
    if (watched.length === 0) return;
    const versions = await this.#parts.source.readVersions(watched.map((channel) => channel.chatId));
    for (const channel of watched) {
      if ((versions.get(channel.chatId) ?? Infinity) > channel.version) channel.heal();
    }
  }

  #warn(chatId: string, dropped: number): void {
    const now = this.#parts.clock.now();
    const last = this.#warned.get(chatId);
    const total = (last?.dropped ?? 0) + dropped;
    if (last && now - last.at < WARNING_INTERVAL_MS) {
      last.dropped = total;
      return;
    }
    this.#warned.set(chatId, { at: now, dropped: 0 });
    this.#parts.log.warn(
      { chatId, dropped: total },
      "A subscriber fell behind; it was told to read the chat anew",
    );
  }
}

/** Stands for a cursor that cannot be read: beyond every version, so the reader is told to refresh. */
const UNUSABLE = {
  position: { version: Number.MAX_SAFE_INTEGER, stage: 0, messageId: 0 },
  generation: null,
  sequence: 0,
};
