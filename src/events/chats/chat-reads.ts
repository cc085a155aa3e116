/** What a channel reads of its chat: the state, and the messages written since some revision that belong to it. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { ChatSnapshot } from "./chat-view.js";

/** A returning reader that missed more rows than this reads the chat anew instead. */
const MAX_REPLAYED_ROWS = 1_000;

/** The reads a channel needs. */
export interface ChatSource {
  readChat(chatId: string): Promise<ChatSnapshot | null>;
  /**
   * Rows people may see, with a revision of at least `fromRevision`, oldest revision first; null when their contents are
   * larger than a replay may carry.
   */
  readRowsFrom(chatId: string, fromRevision: number, limit: number): Promise<MessageRow[] | null>;
  /** Both as of one instant, in one transaction; null when there is no such chat. */
  readChatAndRowsFrom(chatId: string, fromRevision: number, limit: number): Promise<ChatAndRows | null>;
}

/** A chat as it stands and its rows from some revision on; null when these are larger than a replay may carry. */
export type ChatAndRows = { fresh: ChatSnapshot; rows: MessageRow[] | null };

export class ChatReads {
  constructor(
    private readonly chatId: string,
    private readonly source: ChatSource,
  ) {}

  /**
   * The chat as it stands and its rows from `revision` on. They are read apart, which costs least; when a commit came
   * between, both are read again at once, because a message that it rewrote can no longer be had as of the state.
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
