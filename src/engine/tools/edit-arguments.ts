/** Reads the edits that a model wrote, also in the shapes that models fall back to. Pure. */
import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { EditFilesRequest } from "../../workspaces/agent-connection.js";

export type FlatEdit = {
  path: string;
  old_text: string;
  new_text: string;
  replace_all?: boolean | undefined;
};

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Some models write a list as a string that contains JSON. */
function decodeList(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== "string") return value;
  try {
    const decoded: JsonValue = JSON.parse(value);
    return Array.isArray(decoded) ? decoded : value;
  } catch {
    return value;
  }
}

/** `files: [{path, edits}]`, the shape of other tools like this one, becomes a flat list. */
function flattenFiles(files: JsonValue | undefined): JsonValue[] | undefined {
  if (!Array.isArray(files)) return undefined;
  return files.flatMap((file): JsonValue[] => {
    if (!isObject(file)) return [file];
    const edits = decodeList(file.edits);
    if (!Array.isArray(edits)) return [file];
    return edits.map((edit) => (isObject(edit) ? { ...edit, path: edit.path ?? file.path ?? null } : edit));
  });
}

/** Never throws; what cannot be understood is left for the schema to refuse. */
export function normaliseEditArguments(args: JsonObject): JsonObject {
  const edits = decodeList(args.edits) ?? flattenFiles(decodeList(args.files));
  if (edits === undefined) return args;
  return { edits };
}

/** Edits of one path, in order, under the path's first mention. */
export function groupEdits(edits: readonly FlatEdit[]): EditFilesRequest {
  const byPath = new Map<string, EditFilesRequest["files"][number]>();
  for (const { path, old_text: oldText, new_text: newText, replace_all: replaceAll } of edits) {
    const trimmed = path.trim();
    const file = byPath.get(trimmed) ?? { path: trimmed, edits: [] };
    file.edits.push({ oldText, newText, replaceAll });
    byPath.set(trimmed, file);
  }
  return { files: [...byPath.values()] };
}
