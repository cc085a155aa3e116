/** What tool servers told of their authorisation, and who Parley is there. Beside what admins say, and never above it. */
import type { JsonObject } from "../../domain/common/json.js";
import type { Queryable, Statement } from "../common/database.js";
import { toJsonb } from "../common/jsonb-text.js";
import type { SecretBox } from "../common/secret-box.js";
import { mcpSecretPlace } from "../common/secret-columns.js";

/** Compares the client's id: two replicas that registered at one time are to end with one client. */
const KEEP: Statement = {
  name: "mcp-oauth-clients.keep",
  text: `
    UPDATE mcp_servers SET oauth_discovered = $4, oauth_registered_secret = $5
    WHERE id = $1 AND version = $2 AND oauth_discovered #>> '{client,id}' IS NOT DISTINCT FROM $3
    RETURNING id`,
};

/**
 * `formerClientId`: of what was kept before; null = nothing was. False: the server has been changed since that
 * version, or somebody else has kept something meanwhile.
 */
export async function keepOauthClient(
  db: Queryable,
  box: SecretBox,
  kept: {
    serverId: string;
    version: number;
    formerClientId: string | null;
    discovered: JsonObject;
    secret: string | null;
  },
): Promise<boolean> {
  const { serverId, secret } = kept;
  const sealed =
    secret === null ? null : box.seal(secret, mcpSecretPlace("oauth_registered_secret", serverId));
  const values = [serverId, kept.version, kept.formerClientId, toJsonb(kept.discovered), sealed];
  return (await db.query(KEEP, values)).length > 0;
}

const FORGET: Statement = {
  name: "mcp-oauth-clients.forget",
  text: `
    UPDATE mcp_servers SET oauth_discovered = NULL, oauth_registered_secret = NULL
    WHERE id = $1 AND oauth_discovered #>> '{client,id}' = $2`,
};

/** The authorisation server knows this client no more; the next authorisation registers another. */
export async function forgetOauthClient(db: Queryable, serverId: string, clientId: string): Promise<void> {
  await db.query(FORGET, [serverId, clientId]);
}
