/**
 * Changes of a chat together with the subagents below it: one transaction that locks the whole family, so that no
 * member is added meanwhile. All changes are made or none, and published after the commit.
 */
import type { ChatState } from "../../domain/chats/chat-state.js";
import { descendantsOf } from "../../domain/chats/family.js";
import type { Command } from "../../domain/chats/transition.js";
import { lockFamily, type LockedMember } from "../../store/chats/families.js";
import { encodeAhead } from "../../store/chats/transitions.js";
import type { Queryable } from "../../store/common/database.js";
import {
  type Applied,
  changeLocked,
  type TransitionDependencies,
  type TransitionResult,
} from "./apply-transition.js";

export type FamilyRequest = {
  chatId: string;
  commands: Command[];
  /** Commands for each chat below; one that refuses them stays as it is. */
  below: (state: ChatState) => Command[];
  /** Runs in the same transaction after the writes, unless the chat itself does not change. */
  alongside?: (transaction: Queryable, written: Applied) => Promise<void>;
};

/** Interrupts a chat below a stopped one and empties its queue, which was meant for a turn that is over. */
export function stopBelow({ queuedIds }: ChatState): Command[] {
  const deletions = queuedIds.map((queuedId): Command => ({ type: "delete-queued", queuedId }));
  return [...deletions, { type: "interrupt" }];
}

/** The result of the chat itself. Its refusal leaves all others as they are. Rejects only when the database does. */
export async function applyToFamily(
  dependencies: TransitionDependencies,
  { chatId, commands, below, alongside }: FamilyRequest,
): Promise<TransitionResult> {
  encodeAhead(commands);
  const publications: (() => void)[] = [];
  const result = await dependencies.database.transaction<TransitionResult>(async (transaction) => {
    const family = await lockFamily(transaction, chatId);
    const chat = family.find((member) => member.chatId === chatId);
    if (!chat) return { outcome: "not_found" };
    if (mustStayArchived(chat, family, commands))
      return { outcome: "refused", reason: "parent_archived", state: chat.state };
    const own = await changeLocked(dependencies, transaction, chat, commands);
    if (own.result.outcome === "refused") return own.result;
    if (own.result.outcome === "changed") await alongside?.(transaction, own.result);
    publications.push(own.publish);
    for (const member of descendantsOf(chatId, family)) {
      publications.push((await changeLocked(dependencies, transaction, member, below(member.state))).publish);
    }
    return own.result;
  });
  for (const publish of publications) publish();
  return result;
}

/** A subagent stays archived as long as its parent. */
function mustStayArchived(chat: LockedMember, family: readonly LockedMember[], commands: Command[]): boolean {
  if (commands.every(({ type }) => type !== "unarchive")) return false;
  return family.some(({ chatId, state }) => chatId === chat.parentId && state.isArchived);
}
