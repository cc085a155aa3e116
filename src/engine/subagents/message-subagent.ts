/** An agent tells one below it something: into its history when it rests, into its queue when it is at work. */
import { randomUUID } from "node:crypto";
import { isBelow, linksOf } from "../../domain/chats/family.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import { isBusy, MAX_BUSY_SUBAGENTS } from "../../domain/chats/subagents.js";
import type { Command } from "../../domain/chats/transition.js";
import type { Queryable } from "../../store/common/database.js";
import { type LockedMember, lockActiveOwner, lockFamily, readAgent } from "../../store/chats/families.js";
import { recallRequest, rememberRequest } from "../../store/chats/new-chat.js";
import { changeLocked, type LockedChange } from "../transitions/apply-transition.js";
import {
  type Agent,
  type Answer,
  type SubagentCaller,
  NOT_BELOW,
  STOPPED,
  type SubagentDependencies,
} from "./ports.js";

type Message = { chatId: string; text: string; whenBusy: "queue" | "interrupt" };
type Told = Answer<{ isQueued: boolean; tell: () => void }>;

/** The same key says it once, also after a replica was lost between the two. */
export async function messageSubagent(
  parts: SubagentDependencies,
  caller: SubagentCaller,
  message: Message,
  key: string,
): Promise<Answer<{ agent: Agent; isQueued: boolean }>> {
  const { chatId } = message;
  const told = await parts.database.transaction((transaction) =>
    write(transaction, { parts, caller, message, key }),
  );
  if (!told.ok) return told;
  told.tell();
  const record = await readAgent(parts.database, chatId);
  if (!record) return NOT_BELOW;
  const agent = { chatId, title: record.title, kind: record.kind ?? ("general" as const) };
  return { ok: true, agent, isQueued: told.isQueued };
}

async function write(
  transaction: Queryable,
  {
    parts,
    caller,
    message,
    key,
  }: { parts: SubagentDependencies; caller: SubagentCaller; message: Message; key: string },
): Promise<Told> {
  const { chatId } = message;
  const family = await lockFamily(transaction, caller.rootChatId);
  const target = family.find((member) => member.chatId === chatId);
  if (!target || !isBelow(chatId, caller.chatId, linksOf(family))) return NOT_BELOW;
  const made = await recallRequest(transaction, { userId: caller.ownerId, key });
  if (made) return { ok: true, isQueued: made.queuedId !== null, tell: () => undefined };
  const self = family.find((member) => member.chatId === caller.chatId)?.state;
  const isAsking = self?.status === "running" && self.runnerId === caller.runnerId;
  if (!isAsking || !(await lockActiveOwner(transaction, caller.ownerId))) return STOPPED;
  if (!isBusy(target.state.status) && isCrowded(target, family)) return CROWDED;
  const queuedId = randomUUID();
  const change = await changeLocked(parts, transaction, target, [sending(caller, message, queuedId)]);
  if (change.result.outcome !== "changed") return { ok: false, message: refusalOf(change.result) };
  const { queue, state } = change.result;
  const isQueued = queue?.some(({ id }) => id === queuedId) ?? false;
  const sent = isQueued ? null : (change.result.messages.findLast(({ role }) => role === "user")?.id ?? null);
  const request = {
    chatId,
    messageId: sent,
    queuedId: isQueued ? queuedId : null,
    version: state.snapshotVersion,
  };
  await rememberRequest(transaction, { userId: caller.ownerId, key }, request);
  return { ok: true, isQueued, tell: change.tell };
}

/** Said in the person's name, whose rights and money it is done with. */
function sending({ ownerId }: SubagentCaller, { text, whenBusy }: Message, queuedId: string): Command {
  const parts: MessagePart[] = [{ type: "text", text }];
  const choice = { modelConfigId: null, reasoningEffort: null, mcpServerIds: null };
  return { type: "send-message", whenBusy, message: { parts, authorId: ownerId, ...choice }, queuedId };
}

function isCrowded({ parentId }: LockedMember, family: readonly LockedMember[]): boolean {
  const busy = family.filter((member) => member.parentId === parentId && isBusy(member.state.status));
  return busy.length >= MAX_BUSY_SUBAGENTS;
}

const CROWDED: { ok: false; message: string } = {
  ok: false,
  message: `${MAX_BUSY_SUBAGENTS} subagents are at work already, which is the most. Wait for one of them with wait_agent, or stop one with interrupt_agent.`,
};

function refusalOf(result: LockedChange["result"]): string {
  if (result.outcome !== "refused") return "Nothing was said.";
  if (result.reason === "archived") return "The subagent is archived; nobody can tell it anything.";
  if (result.reason === "queue_full") return "Too many messages wait for this subagent already.";
  return "The subagent cannot be told anything now.";
}
