/** Sends a message from an agent to a subagent: into its history when it is idle, into its queue when it is busy. */
import { randomUUID } from "node:crypto";
import { isDescendantOf, linksOf } from "../../domain/chats/family.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import { isBusy, MAX_BUSY_SUBAGENTS } from "../../domain/chats/subagents.js";
import type { Command } from "../../domain/chats/transition.js";
import { type LockedMember, lockActiveOwner, lockFamily, readAgent } from "../../store/chats/families.js";
import { recallRequest, rememberRequest } from "../../store/chats/new-chat.js";
import type { Queryable } from "../../store/common/database.js";
import { changeLocked, type LockedChange } from "../transitions/apply-transition.js";
import {
  type Agent,
  type AgentMessage,
  type Answer,
  NOT_BELOW,
  STOPPED,
  type SubagentCaller,
  type SubagentDependencies,
} from "./ports.js";

type Message = AgentMessage & { chatId: string };
type Sent = Answer<{ isQueued: boolean; publish: () => void }>;

/** Sends once per key, even when a replica was lost in between. */
export async function messageSubagent(
  dependencies: SubagentDependencies,
  caller: SubagentCaller,
  message: Message,
  key: string,
): Promise<Answer<{ agent: Agent; isQueued: boolean }>> {
  const { chatId } = message;
  const sent = await dependencies.database.transaction((transaction) =>
    send(transaction, { dependencies, caller, message, key }),
  );
  if (!sent.ok) return sent;
  sent.publish();
  const record = await readAgent(dependencies.database, chatId);
  if (!record) return NOT_BELOW;
  const agent = { chatId, title: record.title, kind: record.kind ?? ("general" as const) };
  return { ok: true, agent, isQueued: sent.isQueued };
}

type SendInput = {
  dependencies: SubagentDependencies;
  caller: SubagentCaller;
  message: Message;
  key: string;
};

async function send(
  transaction: Queryable,
  { dependencies, caller, message, key }: SendInput,
): Promise<Sent> {
  const { chatId } = message;
  const family = await lockFamily(transaction, caller.rootChatId);
  const target = family.find((member) => member.chatId === chatId);
  if (!target || !isDescendantOf(chatId, caller.chatId, linksOf(family))) return NOT_BELOW;
  const earlier = await recallRequest(transaction, { userId: caller.ownerId, key });
  if (earlier) return { ok: true, isQueued: earlier.queuedId !== null, publish: () => undefined };
  const self = family.find((member) => member.chatId === caller.chatId)?.state;
  const isCurrentRun = self?.status === "running" && self.runnerId === caller.runnerId;
  if (!isCurrentRun || !(await lockActiveOwner(transaction, caller.ownerId))) return STOPPED;
  if (!isBusy(target.state.status) && isCrowded(target, family)) return CROWDED;
  const queuedId = randomUUID();
  const command = sendCommand(caller, message, queuedId);
  const change = await changeLocked(dependencies, transaction, target, [command]);
  if (change.result.outcome !== "changed") return { ok: false, message: refusalText(change.result) };
  const { queue, state, messages } = change.result;
  const isQueued = queue?.some(({ id }) => id === queuedId) ?? false;
  const request = {
    chatId,
    messageId: isQueued ? null : (messages.findLast(({ role }) => role === "user")?.id ?? null),
    queuedId: isQueued ? queuedId : null,
    version: state.snapshotVersion,
  };
  await rememberRequest(transaction, { userId: caller.ownerId, key }, request);
  return { ok: true, isQueued, publish: change.publish };
}

/** The chat's owner is the author: it is done with the owner's rights and budget. */
function sendCommand({ ownerId }: SubagentCaller, { text, whenBusy }: Message, queuedId: string): Command {
  const parts: MessagePart[] = [{ type: "text", text }];
  const settings = { modelConfigId: null, reasoningEffort: null, mcpServerIds: null };
  return { type: "send-message", whenBusy, message: { parts, authorId: ownerId, ...settings }, queuedId };
}

function isCrowded({ parentId }: LockedMember, family: readonly LockedMember[]): boolean {
  const busy = family.filter((member) => member.parentId === parentId && isBusy(member.state.status));
  return busy.length >= MAX_BUSY_SUBAGENTS;
}

const CROWDED: { ok: false; message: string } = {
  ok: false,
  message: `${MAX_BUSY_SUBAGENTS} subagents are at work already, which is the most. Wait for one of them with wait_agent, or stop one with interrupt_agent.`,
};

function refusalText(result: LockedChange["result"]): string {
  if (result.outcome !== "refused") return "Nothing was sent.";
  if (result.reason === "archived") return "The subagent is archived and takes no messages.";
  if (result.reason === "queue_full") return "Too many messages wait for this subagent already.";
  return "The subagent takes no messages now.";
}
