/** Files that a person says something with: their own, with all their bytes, and in no other chat. */
import { MAX_MESSAGE_FILES } from "../../domain/files/file-limits.js";
import type { MessagePart, UserMessagePart } from "../../domain/chats/message-parts.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { attachFiles, type AttachableFile, FileGone, findAttachable } from "../../store/files/chat-files.js";
import type { Database, Queryable } from "../../store/common/database.js";
import type { CommandRefusal, CommandResult } from "./chat-commands.js";
import { refuse } from "../common/command-dependencies.js";

/** What is said, as it is stored; `fileIds`: what the chat is to be given, each once. */
export type Said = { parts: MessagePart[]; fileIds: string[] };

/** `chatId` is null for a chat that is about to begin. All that is wrong is told at once. */
export async function readAttachments(
  database: Database,
  viewer: Viewer,
  chatId: string | null,
  said: readonly UserMessagePart[],
): Promise<CommandResult<{ said: Said }>> {
  const ids = [...new Set(said.flatMap((part) => (part.type === "file" ? [part.fileId] : [])))];
  const found =
    ids.length === 0 ? [] : await findAttachable(database, { userId: viewer.userId, chatId, ids });
  const files = new Map(found.map((file) => [file.id, file]));
  const [first, ...others] = [
    ...(ids.length > MAX_MESSAGE_FILES ? [TOO_MANY] : []),
    ...said.flatMap((part, place) =>
      part.type === "file" ? refusalsOf(files.get(part.fileId), chatId, place) : [],
    ),
  ];
  if (first) return refuse({ ...first, others });
  return { ok: true, said: { parts: said.flatMap((part) => toStored(part, files)), fileIds: ids } };
}

const TOO_MANY: CommandRefusal = {
  code: "INVALID",
  message: `A message has at most ${MAX_MESSAGE_FILES} files.`,
  path: ["parts"],
};

function refusalsOf(
  file: AttachableFile | undefined,
  chatId: string | null,
  place: number,
): CommandRefusal[] {
  const path = ["parts", String(place), "file", "fileId"];
  if (file === undefined) return [{ code: "NOT_FOUND", message: "There is no such file.", path }];
  if (!file.isReady) return [{ code: "INVALID", message: "The file's bytes have not been uploaded.", path }];
  if (file.chatId === null || file.chatId === chatId) return [];
  return [{ code: "INVALID", message: "The file is in another chat: upload it anew for this one.", path }];
}

function toStored(part: UserMessagePart, files: ReadonlyMap<string, AttachableFile>): MessagePart[] {
  if (part.type !== "file") return [part];
  const file = files.get(part.fileId);
  if (file === undefined) return [];
  const { id: fileId, name, mediaType, sizeBytes } = file;
  return [{ type: "file", fileId, name, mediaType, sizeBytes }];
}

/** Bytes of files that become somebody else's with the message; of one's own nothing changes. */
export function foreignFileBytes({ parts }: Said, viewer: Viewer, ownerId: string): number {
  if (viewer.userId === ownerId) return 0;
  return parts.reduce((sum, part) => sum + (part.type === "file" ? part.sizeBytes : 0), 0);
}

/** What a transition does alongside, in its transaction; undefined when there is nothing to give. */
export function givingFiles(
  { fileIds }: Said,
  chatId: string,
  now: number,
): ((transaction: Queryable) => Promise<void>) | undefined {
  if (fileIds.length === 0) return undefined;
  return async (transaction) => void (await attachFiles(transaction, { chatId, ids: fileIds, now }));
}

/** The refusal for a file that went away while the message was being written; any other error is thrown on. */
export function refuseGone(error: unknown): { ok: false; refusal: CommandRefusal } {
  if (!(error instanceof FileGone)) throw error;
  return refuse({
    code: "CONFLICT",
    message: "A file of the message has gone. Upload it anew.",
    path: ["parts"],
  });
}
