/** Selection of the files of a tool's result that are stored, under safe names, with notes on the others. Pure. */
import type { ToolFile } from "../../../domain/chats/tool-outcome.js";
import type { JsonValue } from "../../../domain/common/json.js";
import { MAX_FILE_BYTES } from "../../../domain/files/file-limits.js";
import { plainFileName } from "../../../domain/files/file-names.js";
import { checkedMediaType } from "../../../domain/files/file-types.js";

/** Files of one call; more would be a download, which belongs in the workspace. */
const MAX_RESULT_FILES = 10;
/** Of each file; as much as one response of an MCP server may have. */
export const MAX_RESULT_FILE_BYTES = MAX_FILE_BYTES;

/** `notes`: a sentence for the model about each file that is not selected. */
type SelectedFiles = { selected: ToolFile[]; notes: string[] };

/** Media types are checked against the content; names lose folders and control characters. */
export function selectFiles(files: readonly ToolFile[]): SelectedFiles {
  const named = files.map(({ name, mediaType, bytes }, index) => ({
    name: plainFileName(name) ?? `file-${index + 1}`,
    mediaType: checkedMediaType(mediaType, bytes),
    bytes,
  }));
  const fitting = named.filter(({ bytes }) => bytes.length <= MAX_RESULT_FILE_BYTES);
  const selected = new Set(fitting.slice(0, MAX_RESULT_FILES));
  const notes = named
    .filter((file) => !selected.has(file))
    .map((file) => `[file ${file.name} (${file.mediaType}, ${file.bytes.length} bytes) ${reasonOf(file)}]`);
  return { selected: [...selected], notes };
}

function reasonOf({ bytes }: ToolFile): string {
  return bytes.length > MAX_RESULT_FILE_BYTES
    ? `was not kept: it is larger than ${MAX_RESULT_FILE_BYTES} bytes`
    : `was not kept: one call may give ${MAX_RESULT_FILES} files`;
}

/** Adds notes to a result: at the end of a text, beside the fields of an object, around everything else. */
export function withNotes(result: JsonValue, notes: readonly string[]): JsonValue {
  if (notes.length === 0) return result;
  if (typeof result === "string") return [result, ...notes].filter((text) => text !== "").join("\n");
  const isObject = typeof result === "object" && result !== null && !Array.isArray(result);
  return { ...(isObject ? result : { result }), notes: [...notes] };
}
