/**
 * Families of chats: a chat that a person started, and the subagents below it. Every member names its parent; who
 * belongs to whom is found by walking up, and a walk that meets a chat twice ends there. Pure.
 */

/** `parentId` null: the root. */
export type FamilyLink = { chatId: string; parentId: string | null };

type Links = ReadonlyMap<string, string | null>;

export function linksOf(members: readonly FamilyLink[]): Links {
  return new Map(members.map(({ chatId, parentId }) => [chatId, parentId]));
}

/** Nearest first; without the chat itself, and up to the last chat that is known. */
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

/** Whether `chatId` is below `ancestorId`. Nobody is below themselves. */
export function isDescendantOf(chatId: string, ancestorId: string, links: Links): boolean {
  return ancestorsOf(chatId, links).includes(ancestorId);
}

/** Those below the chat, in the order in which they are given. */
export function descendantsOf<Member extends FamilyLink>(
  chatId: string,
  members: readonly Member[],
): Member[] {
  const links = linksOf(members);
  return members.filter((member) => isDescendantOf(member.chatId, chatId, links));
}
