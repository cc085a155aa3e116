/** The tool servers that people select for a chat: which may be, and which need something of the person first. */
import type { McpConnectionStatus } from "../../domain/mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { CommandRefusal } from "../chats/chat-commands.js";

/** A prompt with the tools of more servers helps no model. */
export const MAX_SELECTED_MCP_SERVERS = 50;

/** Where people's wishes meet what admins set up. */
export type McpSelection = {
  /** What a new chat selects that says nothing. */
  preselected(): Promise<string[]>;
  /** Those of the ids that people may use, and the ones that are in every turn. */
  enabled(ids: readonly string[]): Promise<readonly McpServerRecord[]>;
  /** How the person stands with each, by id. */
  standings(
    servers: readonly McpServerRecord[],
    userId: string,
  ): Promise<ReadonlyMap<string, { status: McpConnectionStatus }>>;
};

type Checked = { ok: true; ids: string[] | undefined } | { ok: false; refusal: CommandRefusal };

/** Each id once, all of them usable; absent stays absent. Refuses with the place of the id that is at fault. */
export async function checkSelection(
  selection: McpSelection,
  wanted: readonly string[] | undefined,
): Promise<Checked> {
  if (wanted === undefined) return { ok: true, ids: undefined };
  const ids = [...new Set(wanted)];
  const path = ["mcpServerIds"];
  if (ids.length > MAX_SELECTED_MCP_SERVERS) {
    const message = `A chat uses at most ${MAX_SELECTED_MCP_SERVERS} tool servers.`;
    return { ok: false, refusal: { code: "INVALID", message, path } };
  }
  const usable = new Set((ids.length === 0 ? [] : await selection.enabled(ids)).map(({ id }) => id));
  const wrong = wanted.findIndex((id) => !usable.has(id));
  if (wrong < 0) return { ok: true, ids };
  const message = "There is no such tool server, or it is disabled.";
  return { ok: false, refusal: { code: "INVALID", message, path: [...path, String(wrong)] } };
}

/**
 * Whoever names a server in order to use it now must be able to: null, or the refusal that tells which ones want the
 * person's authorisation first. Servers that are in every turn are nobody's choice and are never refused.
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
  const standings = await selection.standings(servers, userId);
  const missing = servers.filter(({ id }) => {
    const status = standings.get(id)?.status;
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
