/** Spawns a subagent: a chat below the calling one, whose first message is the task. */
import { randomUUID } from "node:crypto";
import type { MessageRow } from "../../domain/chats/chat-events.js";
import { initialState } from "../../domain/chats/chat-lifecycle.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import { spawnRefusal } from "../../domain/chats/subagents.js";
import { normaliseTitle, titleFrom } from "../../domain/chats/title.js";
import { lockActiveOwner, lockFamilyRoot, readAgent, readFamily } from "../../store/chats/families.js";
import { insertChat, type NewChat, recallRequest, rememberRequest } from "../../store/chats/new-chat.js";
import type { Queryable } from "../../store/common/database.js";
import { publishChange } from "../transitions/apply-transition.js";
import {
  type Agent,
  type Answer,
  type SpawnRequest,
  STOPPED,
  type SubagentCaller,
  type SubagentDependencies,
} from "./ports.js";

/** The same key gets the same subagent, even when a replica was lost in between. */
export async function spawnSubagent(
  dependencies: SubagentDependencies,
  caller: SubagentCaller,
  request: SpawnRequest,
  key: string,
): Promise<Answer<{ agent: Agent }>> {
  const model = await selectModel(dependencies, caller, request);
  if (!model.ok) return model;
  const chat = newSubagent(caller, request, { ...model, now: dependencies.clock.now() });
  const inserted = await dependencies.database.transaction((transaction) =>
    insert(transaction, { dependencies, caller, chat, key }),
  );
  if (!inserted.ok) return inserted;
  const { chatId, messages } = inserted;
  const { ownerId, state } = chat;
  if (messages !== null)
    publishChange(dependencies, { chatId, ownerId, previousVersion: 0, state, messages }, messages);
  const record = await readAgent(dependencies.database, chatId);
  return record
    ? { ok: true, agent: { chatId, title: record.title, kind: record.kind ?? "general" } }
    : STOPPED;
}

type SelectedModel = { modelConfigId: string; isCallers: boolean };

/** The small model for an "explore" subagent, where the owner can use one; otherwise the caller's. */
async function selectModel(
  { chooseModel, smallModelConfigId }: SubagentDependencies,
  { modelConfigId, ownerId }: SubagentCaller,
  { kind }: SpawnRequest,
): Promise<Answer<SelectedModel>> {
  const small = kind === "explore" ? await smallModelConfigId() : null;
  if (small !== null) {
    const choice = await chooseModel(small, ownerId);
    if (choice.ok) return { ok: true, modelConfigId: choice.model.config.id, isCallers: false };
  }
  const choice = await chooseModel(modelConfigId, ownerId);
  if (!choice.ok) return { ok: false, message: choice.failure.message };
  return { ok: true, modelConfigId: choice.model.config.id, isCallers: true };
}

function newSubagent(
  caller: SubagentCaller,
  { task, title, kind }: SpawnRequest,
  { modelConfigId, isCallers, now }: SelectedModel & { now: number },
): NewChat {
  const parts: MessagePart[] = [{ type: "text", text: task }];
  const ownTitle = normaliseTitle(title ?? "");
  // Another model may have other efforts.
  const reasoningEffort = isCallers ? caller.reasoningEffort : null;
  const { ownerId, workspaceId, chatId, rootChatId, depth } = caller;
  return {
    ...{ id: randomUUID(), ownerId, modelConfigId, workspaceId, reasoningEffort, now },
    ...{ clientTools: [], labels: [] },
    mcpServerIds: kind === "explore" ? [] : caller.mcpServerIds,
    family: { parentChatId: chatId, rootChatId, kind, depth: depth + 1 },
    state: initialState(
      ownTitle === "" ? titleFrom(parts) : ownTitle,
      ownTitle === "" ? "first_message" : "model",
      { isSubagent: true },
    ),
    // The chat's owner is the author: it is done with the owner's rights and budget.
    messages: [
      { role: "user", visibility: "both", parts, authorId: ownerId, modelConfigId, reasoningEffort },
    ],
  };
}

type InsertInput = {
  dependencies: SubagentDependencies;
  caller: SubagentCaller;
  chat: NewChat;
  key: string;
};

/** `messages` is null when an earlier call with the same key has inserted the chat. */
async function insert(
  transaction: Queryable,
  { dependencies, caller, chat, key }: InsertInput,
): Promise<Answer<{ chatId: string; messages: MessageRow[] | null }>> {
  await lockFamilyRoot(transaction, caller.rootChatId);
  const earlier = await recallRequest(transaction, { userId: caller.ownerId, key });
  if (earlier) return { ok: true, chatId: earlier.chatId, messages: null };
  if (!(await lockActiveOwner(transaction, caller.ownerId))) return STOPPED;
  const family = await readFamily(transaction, caller.rootChatId);
  const refusal = spawnRefusal({ caller, family, maxDepth: dependencies.maxDepth });
  if (refusal !== null) return { ok: false, message: refusal };
  // Strictly increasing, whatever clocks say: siblings are listed in the order in which they were spawned.
  const now = Math.max(chat.now, ...family.map(({ createdAt }) => createdAt + 1));
  const messages = await insertChat(transaction, { ...chat, now });
  const version = chat.state.snapshotVersion;
  const request = { chatId: chat.id, messageId: null, queuedId: null, version };
  await rememberRequest(transaction, { userId: caller.ownerId, key }, request);
  return { ok: true, chatId: chat.id, messages };
}
