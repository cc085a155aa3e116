/** Which of a tool's files are kept, under which names, and what the model is told of the others. Pure. */
import { checkedMediaType } from "../../../domain/files/file-types.js";
import type { JsonValue } from "../../../domain/common/json.js";
import type { ToolFile } from "../../../domain/chats/tool-outcome.js";
import { plainFileName } from "../../../domain/files/file-names.js";
import { MAX_FILE_BYTES } from "../../../domain/files/file-limits.js";

/** One call's; more would be a download, for which there is the workspace. */
export const MAX_RESULT_FILES = 10;
/** Each; as much as one answer of a tool server may have. */
export const MAX_RESULT_FILE_BYTES = MAX_FILE_BYTES;

/** `words`: a sentence for each file that is not kept. */
export type SortedFiles = { kept: ToolFile[]; words: string[] };

/** Types are checked by content; names lose folders and control characters. */
export function sortFiles(files: readonly ToolFile[]): SortedFiles {
  const named = files.map(({ name, mediaType, bytes }, index) => ({
    name: plainFileName(name) ?? `file-${index + 1}`,
    mediaType: checkedMediaType(mediaType, bytes),
    bytes,
  }));
  const fitting = named.filter(({ bytes }) => bytes.length <= MAX_RESULT_FILE_BYTES);
  const kept = new Set(fitting.slice(0, MAX_RESULT_FILES));
  const words = named
    .filter((file) => !kept.has(file))
    .map((file) => `[file ${file.name} (${file.mediaType}, ${file.bytes.length} bytes) ${reasonOf(file)}]`);
  return { kept: [...kept], words };
}

function reasonOf({ bytes }: ToolFile): string {
  return bytes.length > MAX_RESULT_FILE_BYTES
    ? `was not kept: it is larger than ${MAX_RESULT_FILE_BYTES} bytes`
    : `was not kept: one call may give ${MAX_RESULT_FILES} files`;
}

/** The result with more words: at the end of a text, beside the fields of an object, around everything else. */
export function withWords(result: JsonValue, words: readonly string[]): JsonValue {
  if (words.length === 0) return result;
  if (typeof result === "string") return [result, ...words].filter((text) => text !== "").join("\n");
  const isObject = typeof result === "object" && result !== null && !Array.isArray(result);
  return { ...(isObject ? result : { result }), notes: [...words] };
}
