/** The title that a chat has until somebody, or a model, gives it a better one. Pure. */
import type { MessagePart } from "./message-parts.js";

const MAX_WORDS = 6;
const MAX_CHARACTERS = 80;

/** The first words of the first message; "New chat" when it has no words. */
export function titleFrom(parts: MessagePart[]): string {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join(" ");
  // PostgreSQL keeps no zero in a text.
  const words = text.split(/[\s\u0000]+/).filter((word) => word !== "");
  if (words.length === 0) return "New chat";
  const title = words.slice(0, MAX_WORDS).join(" ") + (words.length > MAX_WORDS ? "…" : "");
  const characters = Array.from(title);
  return characters.length <= MAX_CHARACTERS ? title : characters.slice(0, MAX_CHARACTERS - 1).join("") + "…";
}
