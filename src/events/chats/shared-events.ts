/**
 * Readers that stand at the same place are told the same, as one event object: it takes memory once, its cursor is
 * written once, and whoever answers it may do that once for all of them.
 */
import type { ChatEvent } from "../../domain/chats/chat-stream.js";
import { compareGenerations, comparePositions } from "../../domain/chats/chat-events.js";
import { encodeEventCursor, type EventCursor } from "../../domain/common/cursors.js";

export type EventBody<E = ChatEvent> = E extends ChatEvent ? Omit<E, "cursor"> : never;

/** An event before it has its cursor; `bytes` is its size, roughly. */
export type SizedBody = { body: EventBody; bytes: number };
/** An event on its way to a reader. */
export type SizedEvent = { event: ChatEvent; bytes: number };

type Told = SizedEvent & { place: EventCursor };

export class SharedEvents {
  readonly #told = new WeakMap<object, Told>();

  /**
   * The event of `news` for a reader that is then at `place`. `news` is one object for all who are told of it at one
   * time, and another one the next time: what is read for an event may not be older than its telling.
   */
  eventOf(news: object, place: EventCursor, describe: () => SizedBody): SizedEvent {
    const told = this.#told.get(news);
    if (told && isSamePlace(told.place, place)) return told;
    const { body, bytes } = describe();
    const made = { event: { ...body, cursor: encodeEventCursor(place) }, bytes, place };
    this.#told.set(news, made);
    return made;
  }
}

function isSamePlace(a: EventCursor, b: EventCursor): boolean {
  if (a.sequence !== b.sequence || comparePositions(a.position, b.position) !== 0) return false;
  if (a.generation === null || b.generation === null) return a.generation === b.generation;
  return compareGenerations(a.generation, b.generation) === 0;
}
