/** Selection of a history's files for the prompt: the newest, as many as every vendor accepts in one request. Pure. */
import { isShownToModels } from "../../domain/files/file-types.js";
import type { MessagePart, StoredFile } from "../../domain/chats/message-parts.js";
import type { PromptMessage } from "../../providers/types.js";

/** With more than twenty images Anthropic refuses those above 2000 pixels, which are not measured here. */
export const MAX_PROMPT_FILES = 20;
/** 22 MB in base64; the smallest request limit, Bedrock's, is 25 MB with all the text. */
export const MAX_PROMPT_FILE_BYTES = 16 * 1024 * 1024;
/**
 * Old files leave the prompt in groups of this size where possible: each removal changes an old message, and the
 * vendor's prompt cache ends there.
 */
const REMOVED_TOGETHER = 5;

/** Returns unique ids. Files that are left out are named by text in their messages. */
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
  const together = Math.ceil(tooMany / REMOVED_TOGETHER) * REMOVED_TOGETHER;
  const removed = Math.max(tooMany, Math.min(together, total - REMOVED_TOGETHER));
  return files.slice(removed).map(({ fileId }) => fileId);
}

/** Unique files, in the order of their last occurrence; `times`: how often each occurs. */
function filesOf(messages: readonly PromptMessage[]): (StoredFile & { times: number })[] {
  const found = new Map<string, StoredFile & { times: number }>();
  for (const file of messages.flatMap(({ parts }) => parts.flatMap(filesIn))) {
    const times = (found.get(file.fileId)?.times ?? 0) + 1;
    found.delete(file.fileId);
    found.set(file.fileId, { ...file, times });
  }
  return [...found.values()];
}

/** All files of a user, text included; of a tool's files only those that a model can see. */
function filesIn(part: MessagePart): StoredFile[] {
  if (part.type === "file") return [part];
  if (part.type !== "tool-result") return [];
  return (part.files ?? []).filter(({ mediaType }) => isShownToModels(mediaType));
}
