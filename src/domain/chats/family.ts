/**
 * Chat families: a chat that a user started (the root) and its subagents. Every member names its parent; ancestors are
 * found by walking up, and a walk that meets a chat twice ends there. Pure.
 */

/** `parentId` is null for the root. */
export type FamilyLink = { chatId: string; parentId: string | null };

type Links = ReadonlyMap<string, string | null>;

export function linksOf(members: readonly FamilyLink[]): Links {
  return new Map(members.map(({ chatId, parentId }) => [chatId, parentId]));
}

/** The chat's ancestors, nearest first, up to the last known chat. */
export function ancestorsOf(chatId: string, links: Links): string[] {
  const found: string[] = [];
  const met = new Set([chatId]);
  for (let next = links.get(chatId); next != null && !met.has(next); next = links.get(next)) {
    if (!links.has(next)) break;
    met.add(next);
    found.push(next);
  }
  return found;
}

/** Whether `chatId` descends from `ancestorId`. A chat is not its own descendant. */
export function isDescendantOf(chatId: string, ancestorId: string, links: Links): boolean {
  return ancestorsOf(chatId, links).includes(ancestorId);
}

/** The chat's descendants, in the order of `members`. */
export function descendantsOf<Member extends FamilyLink>(
  chatId: string,
  members: readonly Member[],
): Member[] {
  const links = linksOf(members);
  return members.filter((member) => isDescendantOf(member.chatId, chatId, links));
}
