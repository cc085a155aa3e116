/**
 * What this replica's own commits taught it of chats: the newest state, and history as the model sees it. It saves
 * reads, never decides: a state taken from here is only ever used against its version, so a stale one costs one
 * more round trip and nothing else.
 */
import { LRUCache } from "lru-cache";
import type { MessageRow, SavedChange } from "../../domain/chats/chat-events.js";
import type { ChatState } from "../../domain/chats/chat-state.js";

/** History kept in memory, all chats together, by the size of its JSON. */
const MAX_HISTORY_BYTES = 64 * 1024 * 1024;
/** Every entry counts at least this much, so that their number is bounded too. */
const ENTRY_BYTES = 2_048;

export type CachedChat = {
  ownerId: string;
  state: ChatState;
  /** Every message the model may see, oldest first; null = not known. */
  history: MessageRow[] | null;
};

type Entry = CachedChat & { bytes: number };

export class ChatCache {
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: MAX_HISTORY_BYTES,
    sizeCalculation: (entry) => entry.bytes,
  });

  get(chatId: string): CachedChat | undefined {
    return this.#entries.get(chatId);
  }

  forget(chatId: string): void {
    this.#entries.delete(chatId);
  }

  /** History as it was read from the database while the chat stood at `state`. */
  remember(chatId: string, ownerId: string, state: ChatState, history: MessageRow[]): void {
    const known = this.#entries.get(chatId);
    if (known && known.state.snapshotVersion > state.snapshotVersion) return;
    this.#put(chatId, { ownerId, state, history, bytes: ENTRY_BYTES + sizeOf(history) });
  }

  /** A transition that this replica committed. */
  apply(news: SavedChange): void {
    const { chatId, ownerId, state, previousVersion } = news;
    const known = this.#entries.get(chatId);
    if (known && known.state.snapshotVersion >= state.snapshotVersion) return;
    const before = previousVersion === 0 ? { history: [], bytes: ENTRY_BYTES } : known;
    const follows = previousVersion === 0 || known?.state.snapshotVersion === previousVersion;
    const isRewritten = state.resetVersion === state.snapshotVersion;
    if (!before?.history || !follows || isRewritten || news.messages === null) {
      this.#put(chatId, { ownerId, state, history: null, bytes: ENTRY_BYTES });
      return;
    }
    const added = news.messages.filter((message) => message.visibility !== "user");
    this.#put(chatId, {
      ownerId,
      state,
      history: added.length === 0 ? before.history : mergeRows(before.history, added),
      bytes: before.bytes + sizeOf(added),
    });
  }

  #put(chatId: string, entry: Entry): void {
    this.#entries.set(chatId, entry);
  }
}

/** History with `added`: rows with an id it has are newer forms of those, the others are new and come last. */
export function mergeRows(history: MessageRow[], added: MessageRow[]): MessageRow[] {
  const last = history.at(-1);
  if (!last || added.every((row) => Number(row.id) > Number(last.id))) return [...history, ...added];
  const byId = new Map([...history, ...added].map((row) => [row.id, row]));
  return [...byId.values()].sort((a, b) => Number(a.id) - Number(b.id));
}

/** Roughly the characters of the rows' text: a bound for memory, not an account of it. */
function sizeOf(rows: MessageRow[]): number {
  let bytes = 0;
  for (const row of rows) bytes += 200 + JSON.stringify(row.parts).length;
  return bytes;
}
