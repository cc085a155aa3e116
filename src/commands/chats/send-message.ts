/** Sends a user message: into history when the chat is idle, into its queue while a turn is running. */
import { randomUUID } from "node:crypto";
import type { MessageRow, QueuedRow } from "../../domain/chats/chat-events.js";
import type { ReasoningEffort, UserMessagePart } from "../../domain/chats/message-parts.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable } from "../../store/common/database.js";
import { findMessage } from "../../store/chats/messages.js";
import { KeyAlreadyUsed, recallRequest, rememberRequest } from "../../store/chats/new-chat.js";
import { findQueuedMessages } from "../../store/chats/queue.js";
import { applyTransition, type Applied } from "../../engine/transitions/apply-transition.js";
import type { ChatChanged, CommandResult } from "../common/command-result.js";
import {
  checkModel,
  checkParts,
  IDEMPOTENCY_KEY_REUSED,
  notFound,
  refusalOf,
  refuse,
  findVisibleChat,
  type CommandDependencies,
} from "../common/command-dependencies.js";
import {
  transferredFileBytes,
  attachFilesStep,
  resolveAttachments,
  type MessageContent,
} from "./attachments.js";
import { checkPersonalKey } from "../models/model-keys.js";
import { checkAuthorized, checkSelection } from "../mcp/selection.js";
import { type TransactionStep, bytesOfParts, checkStorage, sequence } from "../files/storage-check.js";
import { refusalOfRollback } from "../common/rolled-back.js";
import { checkUsageLimit } from "../usage/usage-limit-check.js";

export type SendMessageInput = {
  chatId: string;
  parts: UserMessagePart[];
  whenBusy: "queue" | "interrupt";
  modelConfigId?: string;
  reasoningEffort?: ReasoningEffort;
  /** The chat's MCP servers from this message on; absent = unchanged. */
  mcpServerIds?: string[];
  idempotencyKey?: string;
};

/** Exactly one of `message` and `queued` is set. */
type Sent = ChatChanged & { message: MessageRow | null; queued: QueuedRow | null };

/** Repeating a request with the same idempotency key returns what the first one sent. */
export async function sendMessage(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: SendMessageInput,
): Promise<CommandResult<Sent>> {
  const repeated = await repeatedRequest(dependencies, viewer, input);
  if (repeated) return repeated;
  const refusal = checkParts(input.parts) ?? (await checkModel(dependencies, input.modelConfigId));
  if (refusal) return refuse(refusal);
  const known = await findVisibleChat(dependencies, viewer, input.chatId);
  if (!known) return notFound("chat", "chatId");
  const selected = await checkSelection(dependencies.mcpSelection, input.mcpServerIds);
  if (!selected.ok) return selected;
  // Turns use the authorizations of the chat's owner, also when an admin sends the message.
  const missing = await checkAuthorized(dependencies.mcpSelection, selected.ids, known.ownerId);
  const refused =
    missing ??
    (await checkPersonalKey(dependencies, { ...input, ownerId: known.ownerId })) ??
    (await checkUsageLimit(dependencies, known.ownerId));
  if (refused) return refuse(refused);
  const attached = await resolveAttachments(dependencies.database, viewer, input.chatId, input.parts);
  if (!attached.ok) return attached;
  const { content } = attached;
  const addedBytes = bytesOfParts(content.parts) + transferredFileBytes(content, viewer, known.ownerId);
  const stored = await checkStorage(dependencies, known.ownerId, addedBytes);
  if (!stored.ok) return stored;
  const checked = {
    ...input,
    ...(selected.ids && { mcpServerIds: selected.ids }),
    content,
    verify: stored.verify,
  };
  try {
    return await commit(dependencies, viewer, checked, known);
  } catch (error) {
    const first = error instanceof KeyAlreadyUsed ? await repeatedRequest(dependencies, viewer, input) : null;
    return first ?? refusalOfRollback(error);
  }
}

async function commit(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: SendMessageInput & { content: MessageContent; verify: TransactionStep | undefined },
  known: NonNullable<Awaited<ReturnType<typeof findVisibleChat>>>,
): Promise<CommandResult<Sent>> {
  const { chatId, idempotencyKey } = input;
  const queuedId = randomUUID();
  const message = {
    parts: input.content.parts,
    authorId: viewer.userId,
    modelConfigId: input.modelConfigId ?? null,
    reasoningEffort: input.reasoningEffort ?? null,
    mcpServerIds: input.mcpServerIds ?? null,
  };
  const store = sequence(attachFilesStep(input.content, chatId, dependencies.clock.now()), input.verify);
  const result = await applyTransition(dependencies, {
    chatId,
    commands: [{ type: "send-message", whenBusy: input.whenBusy, message, queuedId }],
    known,
    // Without either, the message may enter history in one round trip.
    ...(idempotencyKey === undefined && store === undefined
      ? {}
      : {
          async alongside(transaction, applied) {
            await store?.(transaction);
            if (idempotencyKey !== undefined)
              await recordRequest(transaction, viewer, input, sentAs(applied, queuedId));
          },
        }),
  });
  switch (result.outcome) {
    case "changed":
      return { ok: true, chatId, ...sentAs(result, queuedId) };
    case "refused":
      return refuse(refusalOf(result));
    case "not_found":
      return notFound("chat", "chatId");
    case "unchanged":
      throw new Error("Sending a message always changes the chat.");
  }
}

/** The message as stored. When the head of the queue entered history instead, ours is in the queue. */
function sentAs(applied: Applied, queuedId: string): Omit<Sent, "chatId"> {
  const queued = applied.queue?.find((row) => row.id === queuedId) ?? null;
  const message = queued ? null : (applied.messages.findLast((row) => row.role === "user") ?? null);
  return { version: applied.state.snapshotVersion, message, queued };
}

async function recordRequest(
  transaction: Queryable,
  viewer: Viewer,
  { chatId, idempotencyKey = "" }: SendMessageInput,
  sent: Omit<Sent, "chatId">,
): Promise<void> {
  const owner = { userId: viewer.userId, key: idempotencyKey };
  const messageId = sent.message?.id ?? null;
  const queuedId = sent.queued?.id ?? null;
  await rememberRequest(transaction, owner, { chatId, messageId, queuedId, version: sent.version });
}

async function repeatedRequest(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: SendMessageInput,
): Promise<CommandResult<Sent> | null> {
  const key = input.idempotencyKey;
  if (key === undefined) return null;
  const earlier = await recallRequest(dependencies.database, { userId: viewer.userId, key });
  if (!earlier) return null;
  const { chatId, version, messageId, queuedId } = earlier;
  const isSend = messageId !== null || queuedId !== null;
  if (!isSend || chatId !== input.chatId) return refuse(IDEMPOTENCY_KEY_REUSED);
  const message = messageId === null ? null : await findMessage(dependencies.database, viewer, messageId);
  const [queued = null] =
    message || queuedId === null ? [] : await findQueuedMessages(dependencies.database, viewer, [queuedId]);
  return { ok: true, chatId, version, message, queued };
}
