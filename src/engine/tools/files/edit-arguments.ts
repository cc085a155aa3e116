/** Parses the edits of a call, including the shapes that models fall back to. Pure. */
import type { JsonObject, JsonValue } from "../../../domain/common/json.js";
import type { EditFilesRequest } from "../../../workspaces/agent-client/agent-connection.js";

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

/** Flattens `files: [{path, edits}]`, the shape of similar tools. */
function flattenFiles(files: JsonValue | undefined): JsonValue[] | undefined {
  if (!Array.isArray(files)) return undefined;
  return files.flatMap((file): JsonValue[] => {
    if (!isObject(file)) return [file];
    const edits = decodeList(file.edits);
    if (!Array.isArray(edits)) return [file];
    return edits.map((edit) => (isObject(edit) ? { ...edit, path: edit.path ?? file.path ?? null } : edit));
  });
}

/** Never throws; unknown shapes are left for the schema to refuse. */
export function normaliseEditArguments(args: JsonObject): JsonObject {
  const edits = decodeList(args.edits) ?? flattenFiles(decodeList(args.files));
  if (edits === undefined) return args;
  return { edits };
}

/** Field names of similar tools, and ours for them. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  old_str: "old_text",
  old_string: "old_text",
  oldText: "old_text",
  search: "old_text",
  find: "old_text",
  new_str: "new_text",
  new_string: "new_text",
  newText: "new_text",
  replace: "new_text",
  replacement: "new_text",
  replaceAll: "replace_all",
  file: "path",
  file_path: "path",
  filePath: "path",
};
const SHAPE = "The arguments are edits: [{path, old_text, new_text, replace_all?}].";

/** Advice for a model whose arguments the schema refuses; may be empty. */
export function explainShape(args: JsonObject): string {
  if (typeof args.edits === "string")
    return "edits must be a list, or its JSON as text; this text is neither.";
  const first = Array.isArray(args.edits) ? args.edits.find(hasOtherName) : undefined;
  if (isObject(first)) return `${renamings(first)} ${SHAPE}`;
  if (args.edits !== undefined) return isObject(args.edits) ? `edits must be a list. ${SHAPE}` : "";
  if (["patch", "diff", "ed_script", "input"].some((name) => Object.hasOwn(args, name)))
    return `Patches and scripts are not understood. ${SHAPE}`;
  if (Object.hasOwn(args, "content")) return "A whole file is written by write_file.";
  return SHAPE;
}

function hasOtherName(edit: JsonValue): boolean {
  return isObject(edit) && Object.keys(edit).some((name) => Object.hasOwn(OTHER_NAMES, name));
}

function renamings(edit: JsonObject): string {
  const pairs = Object.keys(edit).flatMap((name) => {
    const here = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
    return here === undefined ? [] : [`\`${name}\` is ${here}`];
  });
  return `Here ${pairs.join(" and ")}.`;
}

/** Groups edits by path, in the order of first mention; requests a diff for the model. */
export function groupEdits(edits: readonly FlatEdit[]): EditFilesRequest {
  const byPath = new Map<string, EditFilesRequest["files"][number]>();
  for (const { path, old_text: oldText, new_text: newText, replace_all: replaceAll } of edits) {
    const trimmed = path.trim();
    const file = byPath.get(trimmed) ?? { path: trimmed, edits: [] };
    file.edits.push({ oldText, newText, replaceAll });
    byPath.set(trimmed, file);
  }
  return { files: [...byPath.values()], includeDiff: true };
}
