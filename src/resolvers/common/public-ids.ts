/** From public ids to the database's, with an error that names the field and what belongs there. */
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
  git: "a git host account",
  push: "a push subscription",
  audit: "an audit log entry",
  token: "an API token",
};

/** A wrong id is shown this far; more would bury the message. */
const SHOWN_CHARACTERS = 80;

/** Throws BAD_USER_INPUT when `id` is malformed or of another kind. */
export function databaseId(kind: IdKind, id: string, field: string): string {
  const value = decodeId(kind, id);
  if (value !== null) return value;
  const other = kindOf(id);
  const what = other === null ? "which is no id of this server" : `the id of ${NOUNS[other]}`;
  throw badInput(
    `${field} must be the id of ${NOUNS[kind]} (${kind}_…), but is ${JSON.stringify(id.slice(0, SHOWN_CHARACTERS))}, ${what}.`,
  );
}

/** The same for a list that may be absent or null; the error names the place in it. */
export function optionalDatabaseIds(
  kind: IdKind,
  ids: readonly string[] | null | undefined,
  field: string,
): string[] | undefined {
  return ids?.map((id, place) => databaseId(kind, id, `${field}[${place}]`));
}

/** The same for a field that may be absent or null. */
export function optionalDatabaseId(
  kind: IdKind,
  id: string | null | undefined,
  field: string,
): string | undefined {
  return id == null ? undefined : databaseId(kind, id, field);
}
