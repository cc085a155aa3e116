/** Decodes public IDs into database IDs, with errors that name the field and the expected kind. */
import { type IdKind, decodeId, kindOf } from "../../domain/common/ids.js";
import { badInput } from "./errors.js";

const NOUNS: Record<IdKind, string> = {
  chat: "a chat",
  msg: "a message",
  que: "a queued message",
  user: "a user",
  prov: "a model provider",
  model: "a model configuration",
  ws: "a workspace",
  tpl: "a workspace template",
  file: "a file",
  mcp: "an MCP server",
  git: "a Git host account",
  push: "a push subscription",
  audit: "an audit log entry",
  token: "an API token",
};

/** Characters of an invalid ID shown in the error. */
const SHOWN_CHARACTERS = 80;

/** Throws BAD_USER_INPUT if `id` is malformed or of another kind. */
export function databaseId(kind: IdKind, id: string, field: string): string {
  const value = decodeId(kind, id);
  if (value !== null) return value;
  const other = kindOf(id);
  const what = other === null ? "which is not an ID of this server" : `the ID of ${NOUNS[other]}`;
  throw badInput(
    `${field} must be the ID of ${NOUNS[kind]} (${kind}_…), but is ${JSON.stringify(id.slice(0, SHOWN_CHARACTERS))}, ${what}.`,
  );
}

/** The same for a list that may be absent or null. The error names the index. */
export function optionalDatabaseIds(
  kind: IdKind,
  ids: readonly string[] | null | undefined,
  field: string,
): string[] | undefined {
  return ids?.map((id, index) => databaseId(kind, id, `${field}[${index}]`));
}

/** The same for a field that may be absent or null. */
export function optionalDatabaseId(
  kind: IdKind,
  id: string | null | undefined,
  field: string,
): string | undefined {
  return id == null ? undefined : databaseId(kind, id, field);
}
