/**
 * Changes that are of a chat and of the subagents below it: one transaction, in which the whole family is held, so
 * that nobody is added to it meanwhile. All of it is done or nothing, and told after the commit.
 */
import { descendantsOf } from "../../domain/chats/family.js";
import type { Command } from "../../domain/chats/transition.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { Queryable } from "../../store/common/database.js";
import { encodeAhead } from "../../store/chats/transitions.js";
import { lockFamily, type LockedMember } from "../../store/chats/families.js";
import {
  type Applied,
  changeLocked,
  type TransitionDependencies,
  type TransitionResult,
} from "./apply-transition.js";

export type FamilyRequest = {
  chatId: string;
  commands: Command[];
  /** What becomes of each chat below; what it refuses leaves it as it is. */
  below: (state: ChatState) => Command[];
  /** Runs in the same transaction after the writes, unless the chat itself does not change. */
  alongside?: (transaction: Queryable, written: Applied) => Promise<void>;
};

/** A chat below a stopped one comes to rest: what waits in its queue was said for a turn that is over. */
export function stopBelow({ queuedIds }: ChatState): Command[] {
  const waiting = queuedIds.map((queuedId): Command => ({ type: "delete-queued", queuedId }));
  return [...waiting, { type: "interrupt" }];
}

/** What became of the chat itself. A refusal of it leaves all others as they are. Rejects only when the database does. */
export async function applyToFamily(
  parts: TransitionDependencies,
  { chatId, commands, below, alongside }: FamilyRequest,
): Promise<TransitionResult> {
  encodeAhead(commands);
  const tellings: (() => void)[] = [];
  const result = await parts.database.transaction<TransitionResult>(async (transaction) => {
    const family = await lockFamily(transaction, chatId);
    const chat = family.find((member) => member.chatId === chatId);
    if (!chat) return { outcome: "not_found" };
    if (isKeptArchived(chat, family, commands))
      return { outcome: "refused", reason: "parent_archived", state: chat.state };
    const own = await changeLocked(parts, transaction, chat, commands);
    if (own.result.outcome === "refused") return own.result;
    if (own.result.outcome === "changed") await alongside?.(transaction, own.result);
    tellings.push(own.tell);
    for (const member of descendantsOf(chatId, family)) {
      tellings.push((await changeLocked(parts, transaction, member, below(member.state))).tell);
    }
    return own.result;
  });
  for (const tell of tellings) tell();
  return result;
}

/** A subagent is in the archive as long as the chat that it works for. */
function isKeptArchived(chat: LockedMember, family: readonly LockedMember[], commands: Command[]): boolean {
  if (commands.every(({ type }) => type !== "unarchive")) return false;
  return family.some(({ chatId, state }) => chatId === chat.parentId && state.isArchived);
}
