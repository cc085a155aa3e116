/**
 * What lists and events carry of a queued message. The whole queue travels in every queue event, to every subscriber:
 * with whole messages, 50 of a megabyte would be 50 MB each time.
 */
import type { MessagePart } from "../../domain/chats/message-parts.js";
import { cutText } from "../../lib/text/utf8.js";

/** UTF-8 bytes of text in one preview, texts, file references and their paths together. Some 30 lines. */
export const MAX_QUEUE_PREVIEW_BYTES = 2_048;

/** `parts` is the same list when nothing had to be left out. */
export type QueuePreview = { parts: MessagePart[]; isCut: boolean };

/**
 * The first `MAX_QUEUE_PREVIEW_BYTES` of what is said: the part in which they end is cut between two characters, texts
 * and references behind it are left out. Files are named however long the text is.
 */
export function previewOf(parts: MessagePart[]): QueuePreview {
  let left = MAX_QUEUE_PREVIEW_BYTES;
  let isCut = false;
  const take = (text: string): string => {
    const taken = cutText(text, left);
    left -= Buffer.byteLength(taken);
    if (taken.length < text.length) {
      isCut = true;
      left = 0;
    }
    return taken;
  };
  const shown = parts.flatMap((part): MessagePart[] => {
    if (part.type !== "text" && part.type !== "file-reference") return [part];
    if (left === 0) {
      isCut = true;
      return [];
    }
    if (part.type === "text") return [{ ...part, text: take(part.text) }];
    // A path that is cut names another file.
    if (Buffer.byteLength(part.path) > left) {
      isCut = true;
      return [];
    }
    return [{ ...part, path: take(part.path), content: take(part.content) }];
  });
  return isCut ? { parts: shown, isCut } : { parts, isCut };
}
