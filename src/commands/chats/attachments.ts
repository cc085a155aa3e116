/** Files attached to a user message: the viewer's own, completely uploaded, and in no other chat. */
import { MAX_MESSAGE_FILES } from "../../domain/files/file-limits.js";
import type { MessagePart, UserMessagePart } from "../../domain/chats/message-parts.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { attachFiles, type AttachableFile, FileGone, findAttachable } from "../../store/files/chat-files.js";
import type { Database, Queryable } from "../../store/common/database.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import { refuse } from "../common/command-dependencies.js";

/** A message's content as it is stored; `fileIds`: the files to attach to the chat, each once. */
export type MessageContent = { parts: MessagePart[]; fileIds: string[] };

/** `chatId` is null for a new chat. Reports every problem at once. */
export async function resolveAttachments(
  database: Database,
  viewer: Viewer,
  chatId: string | null,
  parts: readonly UserMessagePart[],
): Promise<CommandResult<{ content: MessageContent }>> {
  const ids = [...new Set(parts.flatMap((part) => (part.type === "file" ? [part.fileId] : [])))];
  const found =
    ids.length === 0 ? [] : await findAttachable(database, { userId: viewer.userId, chatId, ids });
  const files = new Map(found.map((file) => [file.id, file]));
  const [first, ...others] = [
    ...(ids.length > MAX_MESSAGE_FILES ? [TOO_MANY] : []),
    ...parts.flatMap((part, index) =>
      part.type === "file" ? refusalsOf(files.get(part.fileId), chatId, index) : [],
    ),
  ];
  if (first) return refuse({ ...first, others });
  const stored = parts.flatMap((part) => toStored(part, files));
  return { ok: true, content: { parts: stored, fileIds: ids } };
}

const TOO_MANY: CommandRefusal = {
  code: "INVALID",
  message: `A message has at most ${MAX_MESSAGE_FILES} files.`,
  path: ["parts"],
};

function refusalsOf(
  file: AttachableFile | undefined,
  chatId: string | null,
  index: number,
): CommandRefusal[] {
  const path = ["parts", String(index), "file", "fileId"];
  if (file === undefined) return [{ code: "NOT_FOUND", message: "There is no such file.", path }];
  if (!file.isReady) return [{ code: "INVALID", message: "The file's bytes have not been uploaded.", path }];
  if (file.chatId === null || file.chatId === chatId) return [];
  return [{ code: "INVALID", message: "The file is in another chat: upload it again for this one.", path }];
}

function toStored(part: UserMessagePart, files: ReadonlyMap<string, AttachableFile>): MessagePart[] {
  if (part.type !== "file") return [part];
  const file = files.get(part.fileId);
  if (file === undefined) return [];
  const { id: fileId, name, mediaType, sizeBytes } = file;
  return [{ type: "file", fileId, name, mediaType, sizeBytes }];
}

/** Bytes of attached files whose owner changes with the message: 0 in the viewer's own chats. */
export function transferredFileBytes({ parts }: MessageContent, viewer: Viewer, ownerId: string): number {
  if (viewer.userId === ownerId) return 0;
  return parts.reduce((sum, part) => sum + (part.type === "file" ? part.sizeBytes : 0), 0);
}

/** Attaches the files within the message's transaction; undefined when there are none. */
export function attachFilesStep(
  { fileIds }: MessageContent,
  chatId: string,
  now: number,
): ((transaction: Queryable) => Promise<void>) | undefined {
  if (fileIds.length === 0) return undefined;
  return async (transaction) => void (await attachFiles(transaction, { chatId, ids: fileIds, now }));
}

/** The refusal for a file that was deleted while the message was being saved; rethrows any other error. */
export function refusalOfMissingFile(error: unknown): { ok: false; refusal: CommandRefusal } {
  if (!(error instanceof FileGone)) throw error;
  return refuse({
    code: "CONFLICT",
    message: "A file of the message no longer exists. Upload it again.",
    path: ["parts"],
  });
}
