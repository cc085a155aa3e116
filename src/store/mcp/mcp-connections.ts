/**
 * People's authorisations for tool servers. The tokens are sealed. Who renews one claims it first, so that all replicas
 * together renew it once; a claim ends by the database's clock when its holder does not end it.
 */
import { randomUUID } from "node:crypto";
import type { Queryable, Statement } from "../common/database.js";
import type { OpenedSecret, SecretBox } from "../common/secret-box.js";
import { secretPlace } from "../common/secret-columns.js";

export type McpConnectionRecord = {
  id: string;
  userId: string;
  serverId: string;
  scopes: string[];
  /** Null = the server did not say. */
  expiresAt: Date | null;
  connectedAt: Date;
  refreshedAt: Date | null;
  /** Somebody renews it at this moment. */
  isClaimed: boolean;
  /** Why it cannot be renewed any more without the person; null = as far as anybody knows it can. */
  refreshFailure: string | null;
  sealed: { accessToken: string; refreshToken: string | null };
};

/** What an authorisation server gave, unsealed; of what form `access` and `refresh` are knows the one who opens them. */
export type McpGrantValues = {
  access: string;
  refresh: string | null;
  scopes: string[];
  expiresInSeconds: number | null;
};

type Row = Omit<McpConnectionRecord, "sealed"> & { accessToken: string; refreshToken: string | null };

const FIELDS = `id, user_id AS "userId", server_id AS "serverId", scopes, expires_at AS "expiresAt",
  connected_at AS "connectedAt", refreshed_at AS "refreshedAt",
  coalesce(refresh_claimed_until > now(), false) AS "isClaimed", refresh_failure AS "refreshFailure",
  access_token AS "accessToken", refresh_token AS "refreshToken"`;

function toRecord({ accessToken, refreshToken, ...rest }: Row): McpConnectionRecord {
  return { ...rest, sealed: { accessToken, refreshToken } };
}

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

/** The values are sealed for the row, so an authorisation anew comes with a new id. */
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

/** Takes the place of an earlier one. False when the server is gone or has been changed since that version. */
export async function connectMcpServer(
  db: Queryable,
  box: SecretBox,
  wanted: {
    userId: string;
    serverId: string;
    serverVersion: number;
    tokens: McpGrantValues;
  },
): Promise<boolean> {
  const id = randomUUID();
  const { userId, serverId, serverVersion, tokens } = wanted;
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

/** What it was; null when there was none. */
export async function disconnectMcpServer(
  db: Queryable,
  userId: string,
  serverId: string,
): Promise<McpConnectionRecord | null> {
  const [gone] = await db.query<Row>(DISCONNECT, [userId, serverId]);
  return gone ? toRecord(gone) : null;
}

const CLAIM: Statement = {
  name: "mcp-connections.claim",
  text: `
    UPDATE mcp_connections
    SET refresh_claim = $2, refresh_claimed_until = now() + make_interval(secs => $3::float8 / 1000)
    WHERE id = $1 AND refresh_failure IS NULL AND (refresh_claimed_until IS NULL OR refresh_claimed_until <= now())
    RETURNING ${FIELDS}`,
};

/** As it is at this moment, and nobody else's to renew for so long. Null: another has it, it failed or it is gone. */
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

/** Others may try at once. */
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

/** False: the claim was another's by now, or the connection is gone. */
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

/** Nothing renews it any more but the person. `failure` names no secret. False as for `renewMcpConnection`. */
export async function failMcpRefresh(
  db: Queryable,
  { id, claim, failure }: { id: string; claim: string; failure: string },
): Promise<boolean> {
  return (await db.query(FAIL, [id, claim, failure])).length > 0;
}

function sealTokens(box: SecretBox, id: string, tokens: McpGrantValues) {
  return {
    access: box.seal(tokens.access, secretPlace("mcp_connections", "access_token", id)),
    refresh:
      tokens.refresh === null
        ? null
        : box.seal(tokens.refresh, secretPlace("mcp_connections", "refresh_token", id)),
  };
}

type Sealed = Pick<McpConnectionRecord, "id" | "sealed">;

export function openAccessToken(box: SecretBox, { id, sealed }: Sealed): OpenedSecret {
  return box.open(sealed.accessToken, secretPlace("mcp_connections", "access_token", id));
}

/** Null when there is none. */
export function openRefreshToken(box: SecretBox, { id, sealed }: Sealed): OpenedSecret | null {
  if (sealed.refreshToken === null) return null;
  return box.open(sealed.refreshToken, secretPlace("mcp_connections", "refresh_token", id));
}
