/** MCP servers selected for a chat: which are selectable, and which need the user's authorization first. */
import type { McpConnectionStatus } from "../../domain/mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { CommandRefusal } from "../common/command-result.js";

/** Models do not cope with the tools of more servers in one prompt. */
const MAX_SELECTED_MCP_SERVERS = 50;

export type McpSelection = {
  /** The selection of new chats that name none. */
  preselected(): Promise<string[]>;
  /** The selectable servers among the ids, plus those that are part of every turn. */
  enabled(ids: readonly string[]): Promise<readonly McpServerRecord[]>;
  /** The user's connection with each server, by server id. */
  accountStates(
    servers: readonly McpServerRecord[],
    userId: string,
  ): Promise<ReadonlyMap<string, { status: McpConnectionStatus }>>;
};

type Checked = { ok: true; ids: string[] | undefined } | { ok: false; refusal: CommandRefusal };

/**
 * Deduplicates the ids and checks that all are selectable; undefined stays undefined. The refusal's path names the
 * wrong id.
 */
export async function checkSelection(
  selection: McpSelection,
  wanted: readonly string[] | undefined,
): Promise<Checked> {
  if (wanted === undefined) return { ok: true, ids: undefined };
  const ids = [...new Set(wanted)];
  const path = ["mcpServerIds"];
  if (ids.length > MAX_SELECTED_MCP_SERVERS) {
    const message = `A chat uses at most ${MAX_SELECTED_MCP_SERVERS} MCP servers.`;
    return { ok: false, refusal: { code: "INVALID", message, path } };
  }
  const usable = new Set((ids.length === 0 ? [] : await selection.enabled(ids)).map(({ id }) => id));
  const wrong = wanted.findIndex((id) => !usable.has(id));
  if (wrong < 0) return { ok: true, ids };
  const message = "There is no such MCP server, or it is disabled.";
  return { ok: false, refusal: { code: "INVALID", message, path: [...path, String(wrong)] } };
}

/**
 * Null when the user has authorized all named servers that need it; else a refusal that names the missing ones. Servers
 * that are part of every turn were not selected by the user and are never refused.
 */
export async function checkAuthorized(
  selection: McpSelection,
  ids: readonly string[] | undefined,
  userId: string,
): Promise<CommandRefusal | null> {
  if (ids === undefined || ids.length === 0) return null;
  const named = new Set(ids);
  const servers = (await selection.enabled(ids)).filter(
    ({ id, availability, authKind }) =>
      named.has(id) && availability !== "force_on" && (authKind === "oauth2" || authKind === "user_identity"),
  );
  if (servers.length === 0) return null;
  const accountStates = await selection.accountStates(servers, userId);
  const missing = servers.filter(({ id }) => {
    const status = accountStates.get(id)?.status;
    return status === "disconnected" || status === "expired";
  });
  if (missing.length === 0) return null;
  const names = missing.map(({ displayName }) => displayName).join(", ");
  return {
    code: "AUTH_REQUIRED",
    message: `Connect to ${names} first, or deselect ${missing.length === 1 ? "it" : "them"}.`,
    path: ["mcpServerIds"],
    serverIds: missing.map(({ id }) => id),
  };
}
