/**
 * How news travels between commits, workers and subscribers, on one replica or many. Saved news and wake-ups are
 * hints: they may be lost, doubled or reordered, versions decide. Live pieces are data, kept in their generation's
 * log until it expires.
 */
import type { Generation, LiveBatch, LivePiece, SavedNews } from "../../domain/chats/chat-events.js";
import type { ConfigTopic } from "../../domain/common/config-topic.js";
import type { ListEntry, ListNews } from "../../domain/chats/list-events.js";

/** The last piece that was written of a generation. */
export type LastPiece = { generation: Generation; sequence: number };

/**
 * Saved news as it is heard. `lastPiece` is that of the generation which is over with it, so that pieces lost on the way
 * are missed before their message is told; null = its sender does not know; absent = none can have been lost.
 */
export type HeardNews = SavedNews & { lastPiece?: LastPiece | null };

export type ChatListener = {
  saved(news: HeardNews): void;
  live(batch: LiveBatch): void;
};

/**
 * What a generation's log still holds. `isCut`: its bound was reached, the pieces do not start or go on without a gap.
 * Numbers up to `droppedUpTo` that are missing were output of tools, of which only the newest is kept.
 * `end` is the number of the last piece, as soon as the writer has noted it; null = there may be more, or have been;
 * absent = everything that was written is there.
 */
export type LoggedPieces = { pieces: LivePiece[]; isCut: boolean; droppedUpTo: number; end?: number | null };

/**
 * What a person's log of list news holds behind some place. `entries` null: that place is no longer in it. `last`: the
 * place of the newest entry; null when the log cannot be reached, then `entries` is null too.
 */
export type LoggedList = { last: string | null; entries: ListEntry[] | null };

export interface Bus {
  /** Whether news reaches other replicas now; always true where there are none. */
  readonly isConnected: boolean;
  /** After a commit; tells the owner's lists too. Never throws; what is lost here is healed by the readers' sweeps. */
  publishSaved(news: SavedNews): void;
  /** Appends to the person's log of list news and tells whoever watches that list. Never throws. */
  publishList(ownerId: string, news: ListNews): void;
  /** Appends to the generation's log and tells the chat's listeners. Never throws. */
  publishLive(batch: LiveBatch): void;
  /** Tells every worker that a chat may be waiting for one. Never throws. */
  wakeWorkers(): void;
  /**
   * Tells every replica, this one before the call returns, that something of this kind was set up anew. After the
   * commit. Never throws; who remembers what was set up forgets it by itself after a few seconds.
   */
  publishConfigChange(topic: ConfigTopic): void;
  /** Resolves once the listener is attached: news committed after that reaches it. */
  subscribeChat(chatId: string, listener: ChatListener): Promise<() => void>;
  /** The same for the news of a person's list. Entries come in the log's order, but may be lost. */
  subscribeList(ownerId: string, listener: (entry: ListEntry) => void): Promise<() => void>;
  onWake(listener: () => void): () => void;
  /** Hears of changes on any replica; of each topic also when the way to the others is whole again. */
  onConfigChange(listener: (topic: ConfigTopic) => void): () => void;
  /** The way to other replicas was broken and is whole again: news may have been lost meanwhile. */
  onReturn(listener: () => void): () => void;
  /** Null when the log is gone or never was. */
  readPieces(chatId: string, generation: Generation): Promise<LoggedPieces | null>;
  /** What the log holds behind `after`; behind its end when that is null. Never rejects. */
  readList(ownerId: string, after: string | null): Promise<LoggedList>;
  close(): Promise<void>;
}
