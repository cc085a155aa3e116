/**
 * What a replica knows of a watched chat: its newest state and queue, and the rows that changed lately. Pure: news
 * goes in, and comes out as what a reader at some place still has to be told.
 */
import type {
  Generation,
  MessageRow,
  Position,
  QueuedRow,
  SavedItem,
  SavedNews,
} from "../../domain/chats/chat-events.js";
import { compareGenerations, generationId, savedNewsAfter, STAGES } from "../../domain/chats/chat-events.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import { rowSize } from "./row-size.js";

/** Changed rows kept per chat for readers that return; older places are read from the database. */
const MAX_RECENT_ROWS = 256;
/** Their contents together; a user may have hundreds of chats watched, and a message may have a megabyte. */
const MAX_RECENT_CHARACTERS = 512 * 1024;

export type ChatSnapshot = { ownerId: string; state: ChatState; queue: QueuedRow[] };

export class ChatView {
  readonly ownerId: string;
  #state: ChatState;
  #queue: QueuedRow[];
  #rows: MessageRow[] = [];
  /** Every row with a higher revision is in `#rows`. */
  #floor: number;

  constructor({ ownerId, state, queue }: ChatSnapshot) {
    this.ownerId = ownerId;
    this.#state = state;
    this.#queue = queue;
    this.#floor = state.snapshotVersion;
  }

  get state(): ChatState {
    return this.#state;
  }

  get version(): number {
    return this.#state.snapshotVersion;
  }

  /** False when the news cannot be applied as it is: something before it, or part of it, must be read first. */
  apply(news: SavedNews): boolean {
    if (news.state.snapshotVersion <= this.version) return true;
    if (news.previousVersion !== this.version || news.messages === null || news.queue === null) return false;
    this.advance(news.state, news.messages, news.queue ?? this.#queue);
    return true;
  }

  /** Moves on to `state`; `rows` is every row whose revision is above the version so far. */
  advance(state: ChatState, rows: MessageRow[], queue: QueuedRow[]): void {
    if (state.resetVersion > this.version) {
      this.#rows = [];
      this.#floor = state.resetVersion;
    }
    const changed = new Set(rows.map((row) => row.id));
    this.#rows = [...this.#rows.filter((row) => !changed.has(row.id)), ...rows];
    const excess = excessOf(this.#rows);
    if (excess > 0) {
      const dropped = this.#rows.splice(0, excess);
      this.#floor = Math.max(this.#floor, ...dropped.map((row) => row.revision));
    }
    this.#state = state;
    this.#queue = queue;
  }

  /** Whether a reader at `position` can be served from memory: all rows it has not been told are there. */
  covers(position: Position): boolean {
    const hasMessagesOfFloor = position.version === this.#floor && position.stage > STAGES.message;
    return position.version > this.#floor || hasMessagesOfFloor;
  }

  /** `rows` replaces the remembered ones when they do not reach back to `after`. */
  newsAfter(after: Position, rows: MessageRow[] = this.#rows): SavedItem[] {
    return savedNewsAfter(after, this.#state, { messages: rows, queue: this.#queue });
  }

  /** Whether the message that grew out of this generation's pieces is among the recent rows. */
  hasMessageOf(generation: Generation): boolean {
    return hasMessageOf(this.#rows, generation);
  }
}

/** How many of the oldest rows are too many. */
function excessOf(rows: readonly MessageRow[]): number {
  let characters = 0;
  let kept = 0;
  for (const row of rows.toReversed()) {
    characters += rowSize(row);
    if (kept === MAX_RECENT_ROWS || characters > MAX_RECENT_CHARACTERS) break;
    kept += 1;
  }
  return rows.length - kept;
}

export function hasMessageOf(rows: MessageRow[], generation: Generation): boolean {
  const id = generationId(generation);
  return rows.some((row) => row.generation === id);
}

/** The generation whose pieces count now; null when nothing is being written. */
export function liveGeneration(state: ChatState): Generation | null {
  const isWriting = state.status === "running" || state.status === "interrupting";
  if (!isWriting || state.retry !== null) return null;
  const { historyVersion, attempt, generationStartedAt: startedAt } = state;
  return { historyVersion, attempt, startedAt };
}

export function isSameGeneration(a: Generation | null, b: Generation | null): boolean {
  return a !== null && b !== null && compareGenerations(a, b) === 0;
}
