// A client of one chat's events: folds them as docs/events.md tells it to, and notes every broken promise.
import { expect } from "vitest";
import {
  comparePositions,
  endOf,
  generationId,
  type MessageRow,
  type Position,
  type QueuedRow,
} from "../../src/domain/chats/chat-events.js";
import type { ChatStatus } from "../../src/domain/chats/chat-state.js";
import type { ChatEvent } from "../../src/domain/chats/chat-stream.js";
import { decodeEventCursor } from "../../src/domain/common/cursors.js";
import type { ChatWorld } from "./world.js";

const SAVED = new Set(["message", "queue", "status", "error", "action-required", "retry"]);

export class Transcript {
  cursor: string | null = null;
  readonly events: ChatEvent[] = [];
  readonly messages = new Map<string, MessageRow>();
  readonly previews = new Map<string, string>();
  status: ChatStatus | null = null;
  queue: QueuedRow[] = [];
  readonly #sequences = new Map<string, number>();
  #position: Position = endOf(0);

  /** `after` is the cursor that the reader returns with. */
  constructor(
    private readonly world: ChatWorld,
    after: string | null = null,
  ) {
    const place = after === null ? null : decodeEventCursor(after);
    if (place?.generation) this.#sequences.set(generationId(place.generation), place.sequence);
  }

  take(event: ChatEvent): void {
    this.#keepPlace(event);
    this.events.push(event);
    this.cursor = event.cursor;
    switch (event.type) {
      case "refresh":
        return this.#readAnew();
      case "message":
        this.#expectInOrder(event.message);
        this.messages.set(event.message.id, event.message);
        if (event.message.generation) this.previews.delete(event.message.generation);
        return;
      case "part":
        return this.#append(event);
      case "preview-reset":
        this.previews.delete(generationId(event.generation));
        return;
      case "status":
        this.status = event.status;
        return;
      case "queue":
        this.queue = event.queue;
        return;
      case "caught-up":
      case "error":
      case "action-required":
      case "retry":
      case "title":
      case "diff-status":
        return;
    }
  }

  /** The types of the events so far, the noteworthy detail beside it. */
  get story(): string[] {
    return this.events.map((event) => {
      if (event.type === "refresh" || event.type === "preview-reset") return `${event.type} ${event.reason}`;
      if (event.type === "status") return `status ${event.status}`;
      if (event.type === "message") return `message ${event.message.role}`;
      if (event.type === "part" && "append" in event.piece) return `part ${event.piece.append}`;
      return event.type;
    });
  }

  #readAnew(): void {
    this.messages.clear();
    this.previews.clear();
    this.#sequences.clear();
    for (const row of this.world.messages) this.messages.set(row.id, row);
    this.status = this.world.state.status;
    this.queue = this.world.queue;
  }

  /** What is new comes after the message that a preview becomes. */
  #expectInOrder({ id, generation }: MessageRow): void {
    if (this.messages.has(id)) return;
    const others = [...this.previews.keys()].filter((preview) => preview !== generation);
    expect(others, `previews that are open when message ${id} comes`).toEqual([]);
  }

  #append(event: Extract<ChatEvent, { type: "part" }>): void {
    const id = generationId(event.generation);
    const last = this.#sequences.get(id) ?? 0;
    // Output of tools that is no longer kept leaves a gap.
    if (event.role === "tool") expect(event.sequence, `${id} goes forward`).toBeGreaterThan(last);
    else expect(event.sequence, `${id} goes on where it was`).toBe(last + 1);
    this.#sequences.set(id, event.sequence);
    const text = "append" in event.piece ? event.piece.append : "";
    this.previews.set(id, (this.previews.get(id) ?? "") + text);
  }

  #keepPlace(event: ChatEvent): void {
    const position = decodeEventCursor(event.cursor)?.position;
    if (!position) throw new Error(`The cursor of ${JSON.stringify(event)} cannot be read.`);
    if (event.type !== "refresh") {
      const least = SAVED.has(event.type) ? 1 : 0;
      expect(
        comparePositions(position, this.#position),
        `${event.type} goes forward from ${JSON.stringify(this.#position)} to ${JSON.stringify(position)}`,
      ).toBeGreaterThanOrEqual(least);
    }
    this.#position = position;
  }
}

/** Lets everything that can happen without time passing happen. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Takes everything that waits on a stream into the transcript; the stream stays open. */
export function follow(stream: AsyncIterator<ChatEvent>, transcript: Transcript): { failure: unknown } {
  const result = { failure: null as unknown };
  const loop = async () => {
    for (let next = await stream.next(); !next.done; next = await stream.next()) transcript.take(next.value);
  };
  loop().catch((error: unknown) => (result.failure = error));
  return result;
}
