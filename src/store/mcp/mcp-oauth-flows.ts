/** OAuth flows for MCP servers that users have begun and not finished. Each can be finished once. */
import { randomUUID } from "node:crypto";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import type { OpenedSecret, SecretBox } from "../common/secret-box.js";
import { columnReference } from "../common/secret-columns.js";
import { McpOauthFlowEntity } from "./mcp-oauth-flow.entity.js";
import { McpServerEntity } from "./mcp-server.entity.js";

/** Long enough to sign in at the server with a second factor. */
const FLOW_LIFE_SECONDS = 600;
/** Open flows per user; one more deletes the oldest. */
const MAX_OPEN_FLOWS = 10;

const plain = selectionOf(McpOauthFlowEntity, "f", [
  ...(["id", "userId", "serverId", "serverVersion", "authorizationUrl"] as const),
  ...(["redirectUri", "returnTo", "browserHash"] as const),
]);
const server = selectionOf(McpServerEntity, "s", ["version"]);

/** Its `browserHash` is null until a browser has continued the flow. */
export type McpOauthFlow = ReturnType<(typeof plain)["read"]> & {
  /** The display name. */
  userName: string;
  username: string;
  serverName: string;
  /** The server's present version; `serverVersion` is that when the flow began. */
  currentVersion: number;
  sealedVerifier: string;
};

type Row = Selected<ReturnType<(typeof plain)["read"]>> &
  Selected<ReturnType<(typeof server)["read"]>> &
  Pick<McpOauthFlow, "userName" | "username" | "serverName" | "sealedVerifier">;

const FIELDS = `${plain.columns}, ${server.columns}, u.name AS "userName", u.username, s.display_name AS "serverName",
  f.code_verifier AS "sealedVerifier"`;

function toFlow(row: Row | undefined): McpOauthFlow | null {
  if (row === undefined) return null;
  const { userName, username, serverName, sealedVerifier } = row;
  const currentVersion = server.read(row).version;
  return { userName, username, serverName, currentVersion, sealedVerifier, ...plain.read(row) };
}

/** Indexes: mcp_oauth_flows_expiry_idx for expired flows, mcp_oauth_flows_user_idx for the user's oldest. */
const BEGIN: Statement = {
  name: "mcp-oauth-flows.begin",
  text: `
    WITH expired AS (DELETE FROM mcp_oauth_flows WHERE expires_at <= now()),
    crowded AS (
      DELETE FROM mcp_oauth_flows WHERE id IN (
        SELECT id FROM mcp_oauth_flows WHERE user_id = $3 AND expires_at > now()
        ORDER BY expires_at DESC, id OFFSET ${MAX_OPEN_FLOWS - 1}))
    INSERT INTO mcp_oauth_flows (id, state_hash, user_id, server_id, server_version, code_verifier,
      authorization_url, redirect_uri, return_to, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => ${FLOW_LIFE_SECONDS}))
    RETURNING expires_at AS "expiresAt"`,
};

/** Its code verifier is not sealed yet. Returns when it expires. */
export async function beginFlow(
  db: Queryable,
  box: SecretBox,
  flow: Omit<McpOauthFlowEntity, "id" | "browserHash" | "expiresAt">,
): Promise<Date> {
  const id = randomUUID();
  const verifier = box.seal(flow.codeVerifier, verifierReference(id));
  const [made] = await db.query<{ expiresAt: Date }>(BEGIN, [
    id,
    flow.stateHash,
    ...[flow.userId, flow.serverId, flow.serverVersion, verifier],
    ...[flow.authorizationUrl, flow.redirectUri, flow.returnTo],
  ]);
  if (!made) throw new Error("The OAuth flow was not inserted.");
  return made.expiresAt;
}

/** By mcp_oauth_flows_state_key. */
const FIND: Statement = {
  name: "mcp-oauth-flows.find",
  text: `
    SELECT ${FIELDS} FROM mcp_oauth_flows f JOIN users u ON u.id = f.user_id JOIN mcp_servers s ON s.id = f.server_id
    WHERE f.state_hash = $1 AND f.expires_at > now()`,
};

/** Null when there is none, or it has expired. */
export async function findFlow(db: Queryable, stateHash: Buffer): Promise<McpOauthFlow | null> {
  const [found] = await db.query<Row>(FIND, [stateHash]);
  return toFlow(found);
}

const BIND: Statement = {
  name: "mcp-oauth-flows.bind",
  text: `
    UPDATE mcp_oauth_flows SET browser_hash = $2
    WHERE state_hash = $1 AND expires_at > now() AND (browser_hash IS NULL OR browser_hash = $2)
    RETURNING authorization_url AS "authorizationUrl"`,
};

/** Binds the flow to a browser. Returns the authorization URL; null when it expired or is another browser's. */
export async function bindFlow(
  db: Queryable,
  { stateHash, browserHash }: { stateHash: Buffer; browserHash: Buffer },
): Promise<string | null> {
  const [bound] = await db.query<{ authorizationUrl: string }>(BIND, [stateHash, browserHash]);
  return bound?.authorizationUrl ?? null;
}

const TAKE: Statement = {
  name: "mcp-oauth-flows.take",
  text: `
    WITH f AS (
      DELETE FROM mcp_oauth_flows WHERE state_hash = $1 AND browser_hash = $2 AND expires_at > now() RETURNING *)
    SELECT ${FIELDS} FROM f JOIN users u ON u.id = f.user_id JOIN mcp_servers s ON s.id = f.server_id`,
};

/** Deletes the flow, so that it is finished only once. Null when it is gone, expired, or another browser's. */
export async function takeFlow(
  db: Queryable,
  { stateHash, browserHash }: { stateHash: Buffer; browserHash: Buffer },
): Promise<McpOauthFlow | null> {
  const [taken] = await db.query<Row>(TAKE, [stateHash, browserHash]);
  return toFlow(taken);
}

export function openCodeVerifier(
  box: SecretBox,
  { id, sealedVerifier }: Pick<McpOauthFlow, "id" | "sealedVerifier">,
): OpenedSecret {
  return box.open(sealedVerifier, verifierReference(id));
}

function verifierReference(id: string) {
  return columnReference("mcp_oauth_flows", "code_verifier", id);
}
