/**
 * Event objects shared between readers at the same cursor: an event takes memory once, its cursor is encoded once, and
 * it can be executed once for all of them.
 */
import type { ChatEvent } from "../../domain/chats/chat-stream.js";
import { compareGenerations, comparePositions } from "../../domain/chats/chat-events.js";
import { encodeEventCursor, type EventCursor } from "../../domain/common/cursors.js";

export type EventBody<E = ChatEvent> = E extends ChatEvent ? Omit<E, "cursor"> : never;

/** An event without its cursor; `bytes` is its approximate size. */
export type SizedBody = { body: EventBody; bytes: number };
export type SizedEvent = { event: ChatEvent; bytes: number };

type SharedEvent = SizedEvent & { cursor: EventCursor };

export class SharedEvents {
  readonly #shared = new WeakMap<object, SharedEvent>();

  /**
   * The event of `change` for a reader that is at `cursor` afterwards. `change` is compared by identity: one object for
   * all readers that get it in one delivery, and another object for the next delivery, since what is read for an event
   * may not be older than its delivery.
   */
  eventOf(change: object, cursor: EventCursor, describe: () => SizedBody): SizedEvent {
    const shared = this.#shared.get(change);
    if (shared && isSameCursor(shared.cursor, cursor)) return shared;
    const { body, bytes } = describe();
    const created = { event: { cursor: encodeEventCursor(cursor), ...body }, bytes, cursor };
    this.#shared.set(change, created);
    return created;
  }
}

function isSameCursor(a: EventCursor, b: EventCursor): boolean {
  if (a.sequence !== b.sequence || comparePositions(a.position, b.position) !== 0) return false;
  if (a.generation === null || b.generation === null) return a.generation === b.generation;
  return compareGenerations(a.generation, b.generation) === 0;
}
