/** Which of a history's files go to the model: the newest, as many as every vendor takes in one request. Pure. */
import { isShownToModels } from "../../domain/files/file-types.js";
import type { MessagePart, StoredFile } from "../../domain/chats/message-parts.js";
import type { PromptMessage } from "../../providers/types.js";

/** From the twenty-first image on Anthropic refuses those of more than 2000 pixels, which nobody here measures. */
export const MAX_PROMPT_FILES = 20;
/** In base64 they have 22 MB, and Bedrock's door, the smallest, takes 25 with all the words. */
export const MAX_PROMPT_FILE_BYTES = 16 * 1024 * 1024;
/**
 * Old files leave the prompt this many at a time where newer ones allow it: each departure changes an old message, and
 * the vendor's cache ends there.
 */
const LEAVING_TOGETHER = 5;

/** Ids, each once. What is not among them is named in words where it stood. */
export function promptFiles(messages: readonly PromptMessage[]): string[] {
  const files = filesOf(messages);
  const total = files.length;
  let bytes = 0;
  let fitting = 0;
  for (const { sizeBytes, times } of files.toReversed()) {
    bytes += sizeBytes * times;
    if (bytes > MAX_PROMPT_FILE_BYTES || fitting === MAX_PROMPT_FILES) break;
    fitting += 1;
  }
  const tooMany = total - fitting;
  const together = Math.ceil(tooMany / LEAVING_TOGETHER) * LEAVING_TOGETHER;
  const left = Math.max(tooMany, Math.min(together, total - LEAVING_TOGETHER));
  return files.slice(left).map(({ fileId }) => fileId);
}

/** Oldest first, each once, where it stands last; `times`: how often it is shown. */
function filesOf(messages: readonly PromptMessage[]): (StoredFile & { times: number })[] {
  const found = new Map<string, StoredFile & { times: number }>();
  for (const file of messages.flatMap(({ parts }) => parts.flatMap(filesIn))) {
    const times = (found.get(file.fileId)?.times ?? 0) + 1;
    found.delete(file.fileId);
    found.set(file.fileId, { ...file, times });
  }
  return [...found.values()];
}

/** A person's files are all read, texts too; of a tool's only those that a model can see. */
function filesIn(part: MessagePart): StoredFile[] {
  if (part.type === "file") return [part];
  if (part.type !== "tool-result") return [];
  return (part.files ?? []).filter(({ mediaType }) => isShownToModels(mediaType));
}
