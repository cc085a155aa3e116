/**
 * Users' authorizations for MCP servers. The tokens are sealed. A renewal claims its row first, so that all replicas
 * together renew it once; a claim that is not released expires by the database's clock.
 */
import { randomUUID } from "node:crypto";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { McpConnectionEntity } from "./mcp-connection.entity.js";
import type { OpenedSecret, SecretBox } from "../common/secret-box.js";
import { columnReference } from "../common/secret-columns.js";

const plain = selectionOf(McpConnectionEntity, "", [
  ...([
    "id",
    "userId",
    "serverId",
    "scopes",
    "expiresAt",
    "connectedAt",
    "refreshedAt",
    "refreshFailure",
  ] as const),
]);

const tokens = selectionOf(McpConnectionEntity, "", ["accessToken", "refreshToken"]);

/** Its `expiresAt` is null when the server did not say; its `refreshFailure` when it can be renewed, as far as known. */
export type McpConnectionRecord = ReturnType<(typeof plain)["read"]> & {
  /** A replica is renewing it. */
  isClaimed: boolean;
  sealed: ReturnType<(typeof tokens)["read"]>;
};

/** A grant of an authorization server, unsealed; the caller defines the form of `access` and `refresh`. */
export type McpGrantValues = {
  access: string;
  refresh: string | null;
  scopes: string[];
  expiresInSeconds: number | null;
};

type Row = Selected<ReturnType<(typeof plain)["read"]> & ReturnType<(typeof tokens)["read"]>> & {
  isClaimed: boolean;
};

const FIELDS = `${plain.columns}, coalesce(refresh_claimed_until > now(), false) AS "isClaimed", ${tokens.columns}`;

const toRecord: (row: Row) => McpConnectionRecord = plain.readWith({
  isClaimed: ({ isClaimed }: Row) => isClaimed,
  sealed: (row: Row) => tokens.read(row),
});

/** By mcp_connections_person_key. */
const FIND: Statement = {
  name: "mcp-connections.find",
  text: `SELECT ${FIELDS} FROM mcp_connections WHERE user_id = $1 AND server_id = ANY($2::uuid[])`,
};

/** In no order. */
export async function findMcpConnections(
  db: Queryable,
  userId: string,
  serverIds: readonly string[],
): Promise<McpConnectionRecord[]> {
  return (await db.query<Row>(FIND, [userId, serverIds])).map(toRecord);
}

/** The values are sealed for the row, so a new authorization comes with a new id. */
const CONNECT: Statement = {
  name: "mcp-connections.connect",
  text: `
    INSERT INTO mcp_connections (id, user_id, server_id, access_token, refresh_token, scopes, expires_at)
    SELECT $1, $2, s.id, $5, $6, $7, now() + make_interval(secs => $8::float8)
    FROM mcp_servers s WHERE s.id = $3 AND s.version = $4
    FOR SHARE OF s
    ON CONFLICT ON CONSTRAINT mcp_connections_person_key DO UPDATE
      SET id = excluded.id, access_token = excluded.access_token, refresh_token = excluded.refresh_token,
        scopes = excluded.scopes, expires_at = excluded.expires_at, connected_at = now(), refreshed_at = NULL,
        refresh_claim = NULL, refresh_claimed_until = NULL, refresh_failure = NULL
    RETURNING id`,
};

/** Replaces an earlier one. False when the server was deleted, or changed since that version. */
export async function connectMcpServer(
  db: Queryable,
  box: SecretBox,
  input: {
    userId: string;
    serverId: string;
    serverVersion: number;
    tokens: McpGrantValues;
  },
): Promise<boolean> {
  const id = randomUUID();
  const { userId, serverId, serverVersion, tokens } = input;
  const sealed = sealTokens(box, id, tokens);
  const values = [
    id,
    userId,
    serverId,
    serverVersion,
    ...[sealed.access, sealed.refresh, tokens.scopes, tokens.expiresInSeconds],
  ];
  return (await db.query(CONNECT, values)).length > 0;
}

const DISCONNECT: Statement = {
  name: "mcp-connections.disconnect",
  text: `DELETE FROM mcp_connections WHERE user_id = $1 AND server_id = $2 RETURNING ${FIELDS}`,
};

/** Returns the deleted connection; null when there was none. */
export async function disconnectMcpServer(
  db: Queryable,
  userId: string,
  serverId: string,
): Promise<McpConnectionRecord | null> {
  const [deleted] = await db.query<Row>(DISCONNECT, [userId, serverId]);
  return deleted ? toRecord(deleted) : null;
}

const CLAIM: Statement = {
  name: "mcp-connections.claim",
  text: `
    UPDATE mcp_connections
    SET refresh_claim = $2, refresh_claimed_until = now() + make_interval(secs => $3::float8 / 1000)
    WHERE id = $1 AND refresh_failure IS NULL AND (refresh_claimed_until IS NULL OR refresh_claimed_until <= now())
    RETURNING ${FIELDS}`,
};

/** Claims the renewal for `leaseMs`. Null when it is claimed already, has failed, or the connection is gone. */
export async function claimMcpRefresh(
  db: Queryable,
  { id, claim, leaseMs }: { id: string; claim: string; leaseMs: number },
): Promise<McpConnectionRecord | null> {
  const [claimed] = await db.query<Row>(CLAIM, [id, claim, leaseMs]);
  return claimed ? toRecord(claimed) : null;
}

const RELEASE: Statement = {
  name: "mcp-connections.release",
  text: `
    UPDATE mcp_connections SET refresh_claim = NULL, refresh_claimed_until = NULL
    WHERE id = $1 AND refresh_claim = $2`,
};

/** Ends the claim, so that another renewal may start at once. */
export async function releaseMcpRefresh(
  db: Queryable,
  { id, claim }: { id: string; claim: string },
): Promise<void> {
  await db.query(RELEASE, [id, claim]);
}

const RENEW: Statement = {
  name: "mcp-connections.renew",
  text: `
    UPDATE mcp_connections
    SET access_token = $3, refresh_token = $4, scopes = $5, expires_at = now() + make_interval(secs => $6::float8),
      refreshed_at = now(), refresh_claim = NULL, refresh_claimed_until = NULL
    WHERE id = $1 AND refresh_claim = $2
    RETURNING id`,
};

/** False when the claim was lost, or the connection is gone. */
export async function renewMcpConnection(
  db: Queryable,
  box: SecretBox,
  { id, claim, tokens }: { id: string; claim: string; tokens: McpGrantValues },
): Promise<boolean> {
  const sealed = sealTokens(box, id, tokens);
  const values = [id, claim, sealed.access, sealed.refresh, tokens.scopes, tokens.expiresInSeconds];
  return (await db.query(RENEW, values)).length > 0;
}

const FAIL: Statement = {
  name: "mcp-connections.fail",
  text: `
    UPDATE mcp_connections
    SET refresh_failure = $3, refresh_claim = NULL, refresh_claimed_until = NULL
    WHERE id = $1 AND refresh_claim = $2
    RETURNING id`,
};

/** From now on only the user can renew it. `failure` contains no secret. False as for `renewMcpConnection`. */
export async function failMcpRefresh(
  db: Queryable,
  { id, claim, failure }: { id: string; claim: string; failure: string },
): Promise<boolean> {
  return (await db.query(FAIL, [id, claim, failure])).length > 0;
}

function sealTokens(box: SecretBox, id: string, tokens: McpGrantValues) {
  return {
    access: box.seal(tokens.access, columnReference("mcp_connections", "access_token", id)),
    refresh:
      tokens.refresh === null
        ? null
        : box.seal(tokens.refresh, columnReference("mcp_connections", "refresh_token", id)),
  };
}

type Sealed = Pick<McpConnectionRecord, "id" | "sealed">;

export function openAccessToken(box: SecretBox, { id, sealed }: Sealed): OpenedSecret {
  return box.open(sealed.accessToken, columnReference("mcp_connections", "access_token", id));
}

/** Null when there is none. */
export function openRefreshToken(box: SecretBox, { id, sealed }: Sealed): OpenedSecret | null {
  if (sealed.refreshToken === null) return null;
  return box.open(sealed.refreshToken, columnReference("mcp_connections", "refresh_token", id));
}
