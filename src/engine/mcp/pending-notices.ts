/** Notices that a turn still has to show: each once, even when another worker continues the turn. Pure. */
import type { MessagePart, MessageRole, NoticePart } from "../../domain/chats/message-parts.js";

type ShownMessage = { role: MessageRole; authorId?: string | null; parts: readonly MessagePart[] };

/** Leaves out those shown since the user's latest message. `history` is oldest first. */
export function pendingNotices(
  history: readonly ShownMessage[],
  notices: readonly NoticePart[],
): NoticePart[] {
  if (notices.length === 0) return [];
  const start = history.findLastIndex(({ role, authorId }) => role === "user" && authorId != null);
  const shown = new Set(
    history
      .slice(start + 1)
      .flatMap(({ parts }) => parts)
      .flatMap((part) => (part.type === "notice" ? [subjectOf(part)] : [])),
  );
  return notices.filter((notice) => {
    const isNew = !shown.has(subjectOf(notice));
    shown.add(subjectOf(notice));
    return isNew;
  });
}

/** One warning per server is enough, whatever else is wrong with it. */
function subjectOf({ mcpServerId, text }: NoticePart): string {
  return mcpServerId ?? text;
}
