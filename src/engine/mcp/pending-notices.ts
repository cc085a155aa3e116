/** Which notices a turn still has to tell: each once, also when another worker went on with it. Pure. */
import type { MessagePart, MessageRole, NoticePart } from "../../domain/chats/message-parts.js";

type Told = { role: MessageRole; authorId?: string | null; parts: readonly MessagePart[] };

/** `history` is oldest first; what was told counts from the last thing a person said. */
export function pendingNotices(history: readonly Told[], notices: readonly NoticePart[]): NoticePart[] {
  if (notices.length === 0) return [];
  const start = history.findLastIndex(({ role, authorId }) => role === "user" && authorId != null);
  const told = new Set(
    history
      .slice(start + 1)
      .flatMap(({ parts }) => parts)
      .flatMap((part) => (part.type === "notice" ? [subjectOf(part)] : [])),
  );
  return notices.filter((notice) => {
    const isNew = !told.has(subjectOf(notice));
    told.add(subjectOf(notice));
    return isNew;
  });
}

/** One warning for each server is enough, whatever else is the matter with it. */
function subjectOf({ mcpServerId, text }: NoticePart): string {
  return mcpServerId ?? text;
}
