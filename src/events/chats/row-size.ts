/** How much of a row of history there is, for bounds of memory. */
import type { MessageRow } from "../../domain/chats/chat-events.js";

/** Rows never change, and many want to know. */
const sizes = new WeakMap<MessageRow, number>();

/** Characters of its parts as JSON. */
export function rowSize(row: MessageRow): number {
  const known = sizes.get(row);
  if (known !== undefined) return known;
  const size = JSON.stringify(row.parts).length;
  sizes.set(row, size);
  return size;
}
