/**
 * Every sealed column. Sealing, opening, rotating and counting take their column references from here, so that they cannot
 * disagree. A new column is one line here and a `SealedColumn` in its entity.
 */
import type { ColumnReference } from "./secret-box.js";

/** `id`: the column that identifies the row; a uuid, unique in the table, and never changed. */
type Listed = { table: string; column: string; id: string };

export const SECRET_COLUMNS = [
  { table: "git_connections", column: "token", id: "id" },
  { table: "mcp_servers", column: "oauth_client_secret", id: "id" },
  { table: "mcp_servers", column: "oauth_registered_secret", id: "id" },
  { table: "mcp_servers", column: "api_key", id: "id" },
  { table: "mcp_servers", column: "custom_headers", id: "id" },
  { table: "mcp_connections", column: "access_token", id: "id" },
  { table: "mcp_connections", column: "refresh_token", id: "id" },
  { table: "mcp_oauth_flows", column: "code_verifier", id: "id" },
  { table: "user_identities", column: "access_token", id: "id" },
  { table: "user_identities", column: "refresh_token", id: "id" },
  { table: "user_identities", column: "id_token", id: "id" },
  { table: "model_providers", column: "api_key", id: "id" },
  { table: "user_provider_keys", column: "api_key", id: "id" },
  { table: "push_keys", column: "private_key", id: "id" },
  { table: "push_subscriptions", column: "auth", id: "id" },
] as const satisfies readonly Listed[];

export type SecretColumn = (typeof SECRET_COLUMNS)[number];
export type SecretTable = SecretColumn["table"];
/** The sealed columns of one table. */
export type SecretColumnOf<Table extends SecretTable> = Extract<SecretColumn, { table: Table }>["column"];

/** The reference that `seal` and `open` take. `rowId`: the row's `id`, in lower case. */
export function columnReference<Table extends SecretTable>(
  table: Table,
  column: SecretColumnOf<Table>,
  rowId: string,
): ColumnReference {
  return { table, column, rowId };
}

/** The reference of an MCP server's secret. */
export function mcpColumnReference(column: SecretColumnOf<"mcp_servers">, serverId: string): ColumnReference {
  return columnReference("mcp_servers", column, serverId);
}
