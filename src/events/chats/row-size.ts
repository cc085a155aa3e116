/** Approximate size of a message row, for memory bounds. */
import type { MessageRow } from "../../domain/chats/chat-events.js";

/** Rows are immutable, and their size is needed often. */
const sizes = new WeakMap<MessageRow, number>();

/** Characters of its parts as JSON. */
export function rowSize(row: MessageRow): number {
  const known = sizes.get(row);
  if (known !== undefined) return known;
  const size = JSON.stringify(row.parts).length;
  sizes.set(row, size);
  return size;
}
