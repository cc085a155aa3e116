/**
 * How news travels between commits, workers and subscribers, on one replica or many. Saved news and wake-ups are
 * hints: they may be lost, doubled or reordered, versions decide. Live pieces are data, kept in their generation's
 * log until it expires.
 */
import type { Generation, LiveBatch, LivePiece, SavedNews } from "../domain/chat-events.js";

export type ChatListener = {
  saved(news: SavedNews): void;
  live(batch: LiveBatch): void;
};

/** What a generation's log still holds. `isCut`: its bound was reached, the pieces do not start or go on without a gap. */
export type LoggedPieces = { pieces: LivePiece[]; isCut: boolean };

export interface Bus {
  /** Whether news reaches other replicas now; always true where there are none. */
  readonly isConnected: boolean;
  /** After a commit. Never throws; what is lost here is healed by the readers' version sweep. */
  publishSaved(news: SavedNews): void;
  /** Appends to the generation's log and tells the chat's listeners. Never throws. */
  publishLive(batch: LiveBatch): void;
  /** Tells every worker that a chat may be waiting for one. Never throws. */
  wakeWorkers(): void;
  /** Resolves once the listener is attached: news committed after that reaches it. */
  subscribeChat(chatId: string, listener: ChatListener): Promise<() => void>;
  onWake(listener: () => void): () => void;
  /** The way to other replicas was broken and is whole again: news may have been lost meanwhile. */
  onReturn(listener: () => void): () => void;
  /** Null when the log is gone or never was. */
  readPieces(chatId: string, generation: Generation): Promise<LoggedPieces | null>;
  close(): Promise<void>;
}
