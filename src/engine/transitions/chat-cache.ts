/**
 * Write-through cache of chat state and history, filled by this replica's own commits. It only saves reads: a cached
 * state is always used against its version, so a stale one costs one more round trip and nothing else.
 */
import { LRUCache } from "lru-cache";
import type { MessageRow, SavedChange } from "../../domain/chats/chat-events.js";
import type { ChatState } from "../../domain/chats/chat-state.js";

/** History of all chats in memory, by the size of its JSON. */
const MAX_HISTORY_BYTES = 64 * 1024 * 1024;
/** Each entry counts at least this much, so that their number is bounded too. */
const ENTRY_BYTES = 2_048;

type CachedChat = {
  ownerId: string;
  state: ChatState;
  /** Every message the model may see, oldest first; null = unknown. */
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

  delete(chatId: string): void {
    this.#entries.delete(chatId);
  }

  /** Caches history that was read from the database while the chat was at `state`. */
  set(chatId: string, ownerId: string, state: ChatState, history: MessageRow[]): void {
    const known = this.#entries.get(chatId);
    if (known && known.state.snapshotVersion > state.snapshotVersion) return;
    this.#put(chatId, { ownerId, state, history, bytes: ENTRY_BYTES + sizeOf(history) });
  }

  /** Applies a transition that this replica has committed. */
  apply(change: SavedChange): void {
    const { chatId, ownerId, state, previousVersion } = change;
    const known = this.#entries.get(chatId);
    if (known && known.state.snapshotVersion >= state.snapshotVersion) return;
    const before = previousVersion === 0 ? { history: [], bytes: ENTRY_BYTES } : known;
    const follows = previousVersion === 0 || known?.state.snapshotVersion === previousVersion;
    const isRewritten = state.resetVersion === state.snapshotVersion;
    if (!before?.history || !follows || isRewritten || change.messages === null) {
      this.#put(chatId, { ownerId, state, history: null, bytes: ENTRY_BYTES });
      return;
    }
    const added = change.messages.filter((message) => message.visibility !== "user");
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

/** Merges `added` into history: rows with a known id replace those, the others are appended. */
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
