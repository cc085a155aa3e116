// Client of one chat's events: applies them according to docs/concepts/events.md, and fails on every broken guarantee.
import { expect } from "vitest";
import {
  comparePositions,
  endOfVersion,
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
  #position: Position = endOfVersion(0);

  /** `after` is the cursor that the reader returns with. */
  constructor(
    private readonly world: ChatWorld,
    after: string | null = null,
  ) {
    const cursor = after === null ? null : decodeEventCursor(after);
    if (cursor?.generation) this.#sequences.set(generationId(cursor.generation), cursor.sequence);
  }

  take(event: ChatEvent): void {
    this.#advance(event);
    this.events.push(event);
    this.cursor = event.cursor;
    switch (event.type) {
      case "refresh":
        return this.#refresh();
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

  /** One short description per event. */
  get eventLog(): string[] {
    return this.events.map((event) => {
      if (event.type === "refresh" || event.type === "preview-reset") return `${event.type} ${event.reason}`;
      if (event.type === "status") return `status ${event.status}`;
      if (event.type === "message") return `message ${event.message.role}`;
      if (event.type === "part" && "append" in event.delta) return `part ${event.delta.append}`;
      return event.type;
    });
  }

  #refresh(): void {
    this.messages.clear();
    this.previews.clear();
    this.#sequences.clear();
    for (const row of this.world.messages) this.messages.set(row.id, row);
    this.status = this.world.state.status;
    this.queue = this.world.queue;
  }

  /** New messages must come after the message of an open preview. */
  #expectInOrder({ id, generation }: MessageRow): void {
    if (this.messages.has(id)) return;
    const others = [...this.previews.keys()].filter((preview) => preview !== generation);
    expect(others, `open previews when message ${id} arrives`).toEqual([]);
  }

  #append(event: Extract<ChatEvent, { type: "part" }>): void {
    const id = generationId(event.generation);
    const last = this.#sequences.get(id) ?? 0;
    // Dropped tool output leaves a gap.
    if (event.role === "tool") expect(event.sequence, `${id} advances`).toBeGreaterThan(last);
    else expect(event.sequence, `${id} continues without a gap`).toBe(last + 1);
    this.#sequences.set(id, event.sequence);
    const text = "append" in event.delta ? event.delta.append : "";
    this.previews.set(id, (this.previews.get(id) ?? "") + text);
  }

  #advance(event: ChatEvent): void {
    const position = decodeEventCursor(event.cursor)?.position;
    if (!position) throw new Error(`invalid cursor in ${JSON.stringify(event)}`);
    if (event.type !== "refresh") {
      const least = SAVED.has(event.type) ? 1 : 0;
      expect(
        comparePositions(position, this.#position),
        `${event.type} advances from ${JSON.stringify(this.#position)} to ${JSON.stringify(position)}`,
      ).toBeGreaterThanOrEqual(least);
    }
    this.#position = position;
  }
}

/** Waits until all work that needs no timer is done. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Applies all events of the stream to the transcript, in the background. */
export function follow(stream: AsyncIterator<ChatEvent>, transcript: Transcript): { failure: unknown } {
  const result = { failure: null as unknown };
  const loop = async () => {
    for (let next = await stream.next(); !next.done; next = await stream.next()) transcript.take(next.value);
  };
  loop().catch((error: unknown) => (result.failure = error));
  return result;
}
