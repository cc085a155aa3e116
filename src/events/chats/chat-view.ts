/**
 * In-memory view of a subscribed chat: its newest state and queue, and the recently changed rows. Pure: it applies
 * committed changes, and computes the items that a reader at a given position has not had.
 */
import type {
  Generation,
  MessageRow,
  Position,
  QueuedRow,
  SavedEvent,
  SavedChange,
} from "../../domain/chats/chat-events.js";
import {
  compareGenerations,
  generationId,
  savedEventsAfter,
  STAGES,
} from "../../domain/chats/chat-events.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import { rowSize } from "./row-size.js";

/** Changed rows retained per chat for returning readers; for older positions they are read from the database. */
const MAX_RECENT_ROWS = 256;
/** Size of these rows; a user may subscribe to hundreds of chats, and a message may have a megabyte. */
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

  /** False when the change cannot be applied: an earlier one is missing, or it carries only part of its rows. */
  apply(change: SavedChange): boolean {
    if (change.state.snapshotVersion <= this.version) return true;
    if (change.previousVersion !== this.version || change.messages === null || change.queue === null)
      return false;
    this.advance(change.state, change.messages, change.queue ?? this.#queue);
    return true;
  }

  /** Moves to `state`; `rows` must be all rows with a revision above the current version. */
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

  /** Whether a reader at `position` can be served from memory: all rows after it are retained. */
  covers(position: Position): boolean {
    const hasMessagesOfFloor = position.version === this.#floor && position.stage > STAGES.message;
    return position.version > this.#floor || hasMessagesOfFloor;
  }

  /** Items after `after`; pass `rows` when the retained ones do not reach back that far. */
  itemsAfter(after: Position, rows: MessageRow[] = this.#rows): SavedEvent[] {
    return savedEventsAfter(after, this.#state, { messages: rows, queue: this.#queue });
  }

  /** Whether the generation's message is among the recent rows. */
  hasMessageOf(generation: Generation): boolean {
    return hasMessageOf(this.#rows, generation);
  }
}

/** Number of oldest rows beyond the bounds. */
function excessOf(rows: readonly MessageRow[]): number {
  let characters = 0;
  let retained = 0;
  for (const row of rows.toReversed()) {
    characters += rowSize(row);
    if (retained === MAX_RECENT_ROWS || characters > MAX_RECENT_CHARACTERS) break;
    retained += 1;
  }
  return rows.length - retained;
}

export function hasMessageOf(rows: MessageRow[], generation: Generation): boolean {
  const id = generationId(generation);
  return rows.some((row) => row.generation === id);
}

/** The generation whose deltas are current; null when no message is being written. */
export function liveGeneration(state: ChatState): Generation | null {
  const isWriting = state.status === "running" || state.status === "interrupting";
  if (!isWriting || state.retry !== null) return null;
  const { historyVersion, attempt, generationStartedAt: startedAt } = state;
  return { historyVersion, attempt, startedAt };
}

export function isSameGeneration(a: Generation | null, b: Generation | null): boolean {
  return a !== null && b !== null && compareGenerations(a, b) === 0;
}
