/**
 * Every column that holds what the secret box sealed. What is sealed, opened, rotated and counted takes its place from
 * here, so that none of them can disagree. A new column is one line here and a `SealedColumn` in its entity.
 */
import type { SecretPlace } from "./secret-box.js";

/** `id`: the column that names the row in the place; a uuid, unique in the table, and never changed. */
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

/** Where a value of a listed column stands: what `seal` and `open` are given. `rowId`: its `id`, in lower case. */
export function secretPlace<Table extends SecretTable>(
  table: Table,
  column: SecretColumnOf<Table>,
  rowId: string,
): SecretPlace {
  return { table, column, rowId };
}

/** The place of a tool server's secret. */
export function mcpSecretPlace(column: SecretColumnOf<"mcp_servers">, serverId: string): SecretPlace {
  return secretPlace("mcp_servers", column, serverId);
}
