/** Database reads of a chat channel: a chat's state together with the messages written since a revision. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { ChatSnapshot } from "./chat-view.js";

/** Most rows replayed to a returning reader; one that missed more has to refresh. */
const MAX_REPLAYED_ROWS = 1_000;

export interface ChatSource {
  readChat(chatId: string): Promise<ChatSnapshot | null>;
  /**
   * Rows visible to users, with a revision of at least `fromRevision`, oldest revision first; null when their contents
   * are larger than a replay may carry.
   */
  readRowsFrom(chatId: string, fromRevision: number, limit: number): Promise<MessageRow[] | null>;
  /** Both from one snapshot of the database; null when the chat does not exist. */
  readChatAndRowsFrom(chatId: string, fromRevision: number, limit: number): Promise<ChatAndRows | null>;
}

/** A chat's current state and its rows from a revision on; `rows` is null when larger than a replay may carry. */
export type ChatAndRows = { fresh: ChatSnapshot; rows: MessageRow[] | null };

export class ChatReads {
  constructor(
    private readonly chatId: string,
    private readonly source: ChatSource,
  ) {}

  /**
   * Reads the chat and its rows from `revision` on. Two separate reads cost least; when a commit came between them, both
   * are read again in one transaction, because a message that it rewrote no longer matches the state.
   */
  async from(revision: number): Promise<ChatAndRows | null> {
    const fresh = await this.source.readChat(this.chatId);
    if (!fresh) return null;
    const rows = await this.rowsFrom(revision);
    return isNewerThan(fresh.state.snapshotVersion, rows) ? this.together(revision) : { fresh, rows };
  }

  async together(revision: number): Promise<ChatAndRows | null> {
    const read = await this.source.readChatAndRowsFrom(this.chatId, revision, MAX_REPLAYED_ROWS + 1);
    return read && { fresh: read.fresh, rows: unlessTooMany(read.rows) };
  }

  /** Null when there are more rows than a replay may carry. */
  async rowsFrom(revision: number): Promise<MessageRow[] | null> {
    return unlessTooMany(await this.source.readRowsFrom(this.chatId, revision, MAX_REPLAYED_ROWS + 1));
  }
}

/** Whether a commit after `version` wrote some of the rows. */
export function isNewerThan(version: number, rows: MessageRow[] | null): boolean {
  return rows?.some((row) => row.revision > version) ?? false;
}

function unlessTooMany(rows: MessageRow[] | null): MessageRow[] | null {
  return rows === null || rows.length > MAX_REPLAYED_ROWS ? null : rows;
}
