/** An agent starts another one: a chat below its own, with the task as the first thing said in it. */
import { randomUUID } from "node:crypto";
import type { MessageRow } from "../../domain/chats/chat-events.js";
import { createdState } from "../../domain/chats/chat-lifecycle.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import { spawnRefusal } from "../../domain/chats/subagents.js";
import { normaliseTitle, titleFrom } from "../../domain/chats/title.js";
import type { Queryable } from "../../store/common/database.js";
import { lockActiveOwner, lockFamilyRoot, readAgent, readFamily } from "../../store/chats/families.js";
import { insertChat, type NewChat, recallRequest, rememberRequest } from "../../store/chats/new-chat.js";
import { publishChange } from "../transitions/apply-transition.js";
import {
  type Agent,
  type Answer,
  type SubagentCaller,
  STOPPED,
  type SubagentDependencies,
  type Wish,
} from "./ports.js";

type Written = Answer<{ chatId: string; messages: MessageRow[] | null }>;

/** The same key gets the same subagent, also after a replica was lost between the two. */
export async function spawnSubagent(
  parts: SubagentDependencies,
  caller: SubagentCaller,
  wish: Wish,
  key: string,
): Promise<Answer<{ agent: Agent }>> {
  const model = await chooseModel(parts, caller, wish);
  if (!model.ok) return model;
  const chat = newSubagent(caller, wish, { ...model, now: parts.clock.now() });
  const written = await parts.database.transaction((transaction) =>
    write(transaction, { parts, caller, chat, key }),
  );
  if (!written.ok) return written;
  const { chatId, messages } = written;
  const { ownerId, state } = chat;
  if (messages !== null)
    publishChange(parts, { chatId, ownerId, previousVersion: 0, state, messages }, messages);
  const record = await readAgent(parts.database, chatId);
  return record
    ? { ok: true, agent: { chatId, title: record.title, kind: record.kind ?? "general" } }
    : STOPPED;
}

type ChosenModel = { modelConfigId: string; isOwn: boolean };

/** Those that only look get the small model, where there is one that answers this person. */
async function chooseModel(
  { chooseModel: choose, smallModelConfigId }: SubagentDependencies,
  { modelConfigId, ownerId }: SubagentCaller,
  { kind }: Wish,
): Promise<Answer<ChosenModel>> {
  const small = kind === "explore" ? await smallModelConfigId() : null;
  if (small !== null) {
    const choice = await choose(small, ownerId);
    if (choice.ok) return { ok: true, modelConfigId: choice.model.config.id, isOwn: false };
  }
  const choice = await choose(modelConfigId, ownerId);
  if (!choice.ok) return { ok: false, message: choice.failure.message };
  return { ok: true, modelConfigId: choice.model.config.id, isOwn: true };
}

function newSubagent(
  caller: SubagentCaller,
  { task, title, kind }: Wish,
  { modelConfigId, isOwn, now }: ChosenModel & { now: number },
): NewChat {
  const parts: MessagePart[] = [{ type: "text", text: task }];
  const given = normaliseTitle(title ?? "");
  // Another model knows other efforts.
  const reasoningEffort = isOwn ? caller.reasoningEffort : null;
  const { ownerId, workspaceId, chatId, rootChatId, depth } = caller;
  return {
    ...{ id: randomUUID(), ownerId, modelConfigId, workspaceId, reasoningEffort, now },
    ...{ clientTools: [], labels: [] },
    mcpServerIds: kind === "explore" ? [] : caller.mcpServerIds,
    family: { parentChatId: chatId, rootChatId, kind, depth: depth + 1 },
    state: createdState(given === "" ? titleFrom(parts) : given, given === "" ? "first_message" : "model", {
      isSubagent: true,
    }),
    // Said in the person's name, whose rights and money it is done with.
    messages: [
      { role: "user", visibility: "both", parts, authorId: ownerId, modelConfigId, reasoningEffort },
    ],
  };
}

async function write(
  transaction: Queryable,
  {
    parts,
    caller,
    chat,
    key,
  }: { parts: SubagentDependencies; caller: SubagentCaller; chat: NewChat; key: string },
): Promise<Written> {
  await lockFamilyRoot(transaction, caller.rootChatId);
  const made = await recallRequest(transaction, { userId: caller.ownerId, key });
  if (made) return { ok: true, chatId: made.chatId, messages: null };
  if (!(await lockActiveOwner(transaction, caller.ownerId))) return STOPPED;
  const family = await readFamily(transaction, caller.rootChatId);
  const refusal = spawnRefusal({ caller, family, maxDepth: parts.maxDepth });
  if (refusal !== null) return { ok: false, message: refusal };
  // One after the other, whatever clocks say: the order of creation is the order in which they were asked for.
  const now = Math.max(chat.now, ...family.map(({ createdAt }) => createdAt + 1));
  const messages = await insertChat(transaction, { ...chat, now });
  const version = chat.state.snapshotVersion;
  const request = { chatId: chat.id, messageId: null, queuedId: null, version };
  await rememberRequest(transaction, { userId: caller.ownerId, key }, request);
  return { ok: true, chatId: chat.id, messages };
}
