/** Discovered OAuth metadata and registered clients of MCP servers. Admins' settings take precedence over them. */
import type { JsonObject } from "../../domain/common/json.js";
import type { Queryable, Statement } from "../common/database.js";
import { toJsonb } from "../common/jsonb-text.js";
import type { SecretBox } from "../common/secret-box.js";
import { mcpColumnReference } from "../common/secret-columns.js";

/** Compares the client's id, so that two replicas that register at the same time end up with one client. */
const STORE: Statement = {
  name: "mcp-oauth-clients.store",
  text: `
    UPDATE mcp_servers SET oauth_discovered = $4, oauth_registered_secret = $5
    WHERE id = $1 AND version = $2 AND oauth_discovered #>> '{client,id}' IS NOT DISTINCT FROM $3
    RETURNING id`,
};

/**
 * `formerClientId`: the id of the stored client; null = there was none. False when the server has changed since that
 * version, or another client was stored meanwhile.
 */
export async function storeOauthClient(
  db: Queryable,
  box: SecretBox,
  client: {
    serverId: string;
    version: number;
    formerClientId: string | null;
    discovered: JsonObject;
    secret: string | null;
  },
): Promise<boolean> {
  const { serverId, secret } = client;
  const sealed =
    secret === null ? null : box.seal(secret, mcpColumnReference("oauth_registered_secret", serverId));
  const values = [serverId, client.version, client.formerClientId, toJsonb(client.discovered), sealed];
  return (await db.query(STORE, values)).length > 0;
}

const FORGET: Statement = {
  name: "mcp-oauth-clients.forget",
  text: `
    UPDATE mcp_servers SET oauth_discovered = NULL, oauth_registered_secret = NULL
    WHERE id = $1 AND oauth_discovered #>> '{client,id}' = $2`,
};

/** Deletes a client that the authorization server rejects; the next authorization registers another. */
export async function forgetOauthClient(db: Queryable, serverId: string, clientId: string): Promise<void> {
  await db.query(FORGET, [serverId, clientId]);
}
