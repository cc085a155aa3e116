/**
 * The event bus between commits, workers and subscribers, on one replica or many. Committed changes and wake-ups are
 * hints: they may be lost, duplicated or reordered; versions decide. Live deltas are data, stored in their generation's
 * log until it expires.
 */
import type { Generation, LiveBatch, LiveDelta, SavedChange } from "../../domain/chats/chat-events.js";
import type { ConfigTopic } from "../../domain/common/config-topic.js";
import type { ListEntry, ListUpdate } from "../../domain/chats/list-events.js";

/** The last delta written of a generation. */
export type LastDelta = { generation: Generation; sequence: number };

/**
 * A committed change as listeners receive it. `lastDelta` is the last delta of the generation that the change ends, so
 * that lost deltas are detected before their message is emitted; null = unknown to the sender; absent = none can be lost.
 */
export type PublishedChange = SavedChange & { lastDelta?: LastDelta | null };

export type ChatListener = {
  saved(change: PublishedChange): void;
  live(batch: LiveBatch): void;
};

/**
 * The contents of a generation's log. `isCut`: the log reached its bound, so the deltas may have gaps.
 * Missing sequence numbers up to `droppedUpTo` were tool output, of which only the newest is retained.
 * `end` is the sequence number of the last delta, once the writer has recorded it; null = there may be more, or have
 * been; absent = everything that was written is there.
 */
export type LoggedDeltas = { deltas: LiveDelta[]; isCut: boolean; droppedUpTo: number; end?: number | null };

/**
 * The entries of a user's list log after a position. `entries` is null when that position is no longer in the log.
 * `last` is the id of the newest entry; null when the log cannot be reached, and then `entries` is null too.
 */
export type LoggedList = { last: string | null; entries: ListEntry[] | null };

export interface Bus {
  /** Whether events reach other replicas now; always true on a single replica. */
  readonly isConnected: boolean;
  /** Publishes a change after its commit, also to the owner's list. Never throws; the version sweeps heal what is lost. */
  publishSaved(change: SavedChange): void;
  /** Appends to the user's list log and notifies the list's subscribers. Never throws. */
  publishList(ownerId: string, update: ListUpdate): void;
  /** Appends to the generation's log and notifies the chat's listeners. Never throws. */
  publishLive(batch: LiveBatch): void;
  /** Wakes every worker: a chat may be claimable. Never throws. */
  wakeWorkers(): void;
  /**
   * Announces a committed configuration change to every replica, to this one before the call returns. Never throws;
   * caches of configuration expire by themselves within a few seconds.
   */
  publishConfigChange(topic: ConfigTopic): void;
  /** Resolves once the listener is attached: changes committed after that reach it. */
  subscribeChat(chatId: string, listener: ChatListener): Promise<() => void>;
  /** The same for a user's list. Entries arrive in the log's order, but may be lost. */
  subscribeList(ownerId: string, listener: (entry: ListEntry) => void): Promise<() => void>;
  onWake(listener: () => void): () => void;
  /** Called for changes on any replica, and for each topic when the connection to other replicas is restored. */
  onConfigChange(listener: (topic: ConfigTopic) => void): () => void;
  /** Called when the connection to other replicas is restored: events may have been lost meanwhile. */
  onReconnect(listener: () => void): () => void;
  /** Null when the log has expired or never existed. */
  readDeltas(chatId: string, generation: Generation): Promise<LoggedDeltas | null>;
  /** Reads the log after `after`, or only its end when that is null. Never rejects. */
  readList(ownerId: string, after: string | null): Promise<LoggedList>;
  close(): Promise<void>;
}
