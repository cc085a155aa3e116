/** A person speaks: into history when the chat rests, into its queue when it is busy. */
import { randomUUID } from "node:crypto";
import type { MessageRow, QueuedRow } from "../../domain/chats/chat-events.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable } from "../../store/common/database.js";
import { findMessage } from "../../store/chats/messages.js";
import { KeyAlreadyUsed, recallRequest, rememberRequest } from "../../store/chats/new-chat.js";
import { findQueuedMessages } from "../../store/chats/queue.js";
import { applyTransition, type Applied } from "../../engine/transitions/apply-transition.js";
import type { ChatChanged, CommandResult, SendMessageInput } from "./chat-commands.js";
import {
  checkModel,
  checkParts,
  KEY_OF_ANOTHER_REQUEST,
  notFound,
  refusalOf,
  refuse,
  seeChat,
  type CommandDependencies,
} from "../common/command-dependencies.js";
import { foreignFileBytes, givingFiles, readAttachments, type Said } from "./attachments.js";
import { checkKey } from "../models/model-keys.js";
import { checkAuthorized, checkSelection } from "../mcp/selection.js";
import { type Alongside, bytesOfParts, checkStorage, inTurn } from "../files/storage-check.js";
import { refusalOfUndone } from "../common/rolled-back.js";
import { checkUsageLimit } from "../usage/usage-limit-check.js";

type Sent = ChatChanged & { message: MessageRow | null; queued: QueuedRow | null };

export async function sendMessage(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: SendMessageInput,
): Promise<CommandResult<Sent>> {
  const repeated = await repeatedRequest(dependencies, viewer, input);
  if (repeated) return repeated;
  const refusal = checkParts(input.parts) ?? (await checkModel(dependencies, input.modelConfigId));
  if (refusal) return refuse(refusal);
  const known = await seeChat(dependencies, viewer, input.chatId);
  if (!known) return notFound("chat", "chatId");
  const selected = await checkSelection(dependencies.mcpSelection, input.mcpServerIds);
  if (!selected.ok) return selected;
  // Turns use what the chat's owner has authorised, whoever speaks.
  const missing = await checkAuthorized(dependencies.mcpSelection, selected.ids, known.ownerId);
  const refused =
    missing ??
    (await checkKey(dependencies, { ...input, ownerId: known.ownerId })) ??
    (await checkUsageLimit(dependencies, known.ownerId));
  if (refused) return refuse(refused);
  const attached = await readAttachments(dependencies.database, viewer, input.chatId, input.parts);
  if (!attached.ok) return attached;
  const { said } = attached;
  const addedBytes = bytesOfParts(said.parts) + foreignFileBytes(said, viewer, known.ownerId);
  const stored = await checkStorage(dependencies, known.ownerId, addedBytes);
  if (!stored.ok) return stored;
  const checked = {
    ...input,
    ...(selected.ids && { mcpServerIds: selected.ids }),
    said,
    verify: stored.verify,
  };
  try {
    return await commit(dependencies, viewer, checked, known);
  } catch (error) {
    const first = error instanceof KeyAlreadyUsed ? await repeatedRequest(dependencies, viewer, input) : null;
    return first ?? refusalOfUndone(error);
  }
}

async function commit(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: SendMessageInput & { said: Said; verify: Alongside | undefined },
  known: NonNullable<Awaited<ReturnType<typeof seeChat>>>,
): Promise<CommandResult<Sent>> {
  const { chatId, idempotencyKey } = input;
  const queuedId = randomUUID();
  const message = {
    parts: input.said.parts,
    authorId: viewer.userId,
    modelConfigId: input.modelConfigId ?? null,
    reasoningEffort: input.reasoningEffort ?? null,
    mcpServerIds: input.mcpServerIds ?? null,
  };
  const store = inTurn(givingFiles(input.said, chatId, dependencies.clock.now()), input.verify);
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
              await remember(transaction, viewer, input, place(applied, queuedId));
          },
        }),
  });
  switch (result.outcome) {
    case "changed":
      return { ok: true, chatId, ...place(result, queuedId) };
    case "refused":
      return refuse(refusalOf(result));
    case "not_found":
      return notFound("chat", "chatId");
    case "unchanged":
      throw new Error("Sending a message always changes the chat.");
  }
}

/** Where the message went. When the head of the queue entered history instead, ours is in the queue. */
function place(applied: Applied, queuedId: string): Omit<Sent, "chatId"> {
  const queued = applied.queue?.find((row) => row.id === queuedId) ?? null;
  const message = queued ? null : (applied.messages.findLast((row) => row.role === "user") ?? null);
  return { version: applied.state.snapshotVersion, message, queued };
}

async function remember(
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
  const made = await recallRequest(dependencies.database, { userId: viewer.userId, key });
  if (!made) return null;
  const { chatId, version, messageId, queuedId } = made;
  const isSend = messageId !== null || queuedId !== null;
  if (!isSend || chatId !== input.chatId) return refuse(KEY_OF_ANOTHER_REQUEST);
  const message = messageId === null ? null : await findMessage(dependencies.database, viewer, messageId);
  const [queued = null] =
    message || queuedId === null ? [] : await findQueuedMessages(dependencies.database, viewer, [queuedId]);
  return { ok: true, chatId, version, message, queued };
}
