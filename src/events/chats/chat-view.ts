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
  /** In the order of their revisions. */
  #rows: MessageRow[] = [];
  readonly #ids = new Set<string>();
  /** Size of `#rows`. */
  #characters = 0;
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
      this.#ids.clear();
      this.#characters = 0;
      this.#floor = state.resetVersion;
    }
    this.#replace(rows);
    this.#dropExcess();
    this.#state = state;
    this.#queue = queue;
  }

  /** Almost every change adds rows only; then the retained ones are not touched. */
  #replace(rows: MessageRow[]): void {
    if (rows.some(({ id }) => this.#ids.has(id))) {
      const changed = new Set(rows.map(({ id }) => id));
      const isChanged = ({ id }: MessageRow) => changed.has(id);
      this.#characters -= sizeOf(this.#rows.filter(isChanged));
      this.#rows = this.#rows.filter((row) => !isChanged(row));
    }
    for (const row of rows) {
      this.#rows.push(row);
      this.#ids.add(row.id);
    }
    this.#characters += sizeOf(rows);
  }

  #dropExcess(): void {
    let excess = 0;
    while (this.#rows.length - excess > MAX_RECENT_ROWS || this.#characters > MAX_RECENT_CHARACTERS) {
      const row = this.#rows[excess];
      if (!row) break;
      this.#characters -= rowSize(row);
      this.#ids.delete(row.id);
      this.#floor = Math.max(this.#floor, row.revision);
      excess += 1;
    }
    if (excess > 0) this.#rows.splice(0, excess);
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

function sizeOf(rows: readonly MessageRow[]): number {
  return rows.reduce((sum, row) => sum + rowSize(row), 0);
}

export function hasMessageOf(rows: MessageRow[], generation: Generation): boolean {
  const id = generationId(generation);
  // It is one of the newest when it is there.
  return rows.findLast((row) => row.generation === id) !== undefined;
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
