/** Access tokens: 256 random bits, stored as their SHA-256 only, so that a stolen database grants no access. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { roleWithin, TOKEN_SCOPES, type TokenScope, type Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { ApiTokenEntity } from "./api-token.entity.js";
import { UserEntity } from "./user.entity.js";

const TOKEN_BYTES = 32;
const TOKEN_PREFIX = "ply_";
/** Ours have 47, a configured one may be longer; anything beyond is not worth hashing. */
const MAX_TOKEN_CHARACTERS = 1_024;

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}

/** More tokens than a user needs; beyond it a program is making them. */
export const MAX_TOKENS_PER_USER = 100;

const record = selectionOf(ApiTokenEntity, "", [
  ...(["id", "name", "createdAt", "lastUsedAt", "expiresAt"] as const),
]);

/** A token's record; of the token itself only a hash is stored. */
export type TokenRecord = ReturnType<(typeof record)["read"]> & Pick<ApiTokenEntity, "scopes">;

// pg does not parse arrays of enums.
const FIELDS = `${record.columns}, scopes::text[] AS scopes`;

const INSERT: Statement = {
  name: "tokens.create",
  text: `INSERT INTO api_tokens (id, user_id, name, token_hash, expires_at, scopes)
    VALUES ($1, $2, $3, $4, $5, $6::token_scope[]) RETURNING ${FIELDS}`,
};

/** A token to create. `expiresAt` in milliseconds since the epoch; absent = never. `scopes` absent = all. */
export type WantedToken = {
  userId: string;
  name: string;
  expiresAt?: number;
  scopes?: readonly TokenScope[];
};

/** Returns the token, which cannot be read again. */
export async function createToken(
  db: Queryable,
  wanted: WantedToken,
): Promise<{ id: string; token: string; record: TokenRecord }> {
  const id = randomUUID();
  const token = TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString("base64url");
  const expiresAt = wanted.expiresAt === undefined ? null : new Date(wanted.expiresAt);
  const scopes = wanted.scopes ?? TOKEN_SCOPES;
  const values = [id, wanted.userId, wanted.name, hashOf(token), expiresAt, scopes];
  const [record] = await db.query<TokenRecord>(INSERT, values);
  if (!record) throw new Error("The token was not created.");
  return { id, token, record };
}

const LIST: Statement = {
  name: "tokens.list",
  text: `SELECT ${FIELDS} FROM api_tokens WHERE user_id = $1 ORDER BY created_at DESC, id LIMIT $2`,
};

/** The user's tokens, newest first; expired ones too, until they are revoked. */
export async function listTokens(db: Queryable, userId: string): Promise<TokenRecord[]> {
  return db.query<TokenRecord>(LIST, [userId, MAX_TOKENS_PER_USER]);
}

const FIND: Statement = {
  name: "tokens.find",
  text: `SELECT ${FIELDS} FROM api_tokens WHERE id = $1 AND user_id = $2`,
};

/** Null when the user has no such token. */
export async function findToken(db: Queryable, userId: string, id: string): Promise<TokenRecord | null> {
  const [found] = await db.query<TokenRecord>(FIND, [id, userId]);
  return found ?? null;
}

const COUNT: Statement = {
  name: "tokens.count",
  text: "SELECT count(*)::int AS count FROM api_tokens WHERE user_id = $1",
};

export async function countTokens(db: Queryable, userId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(COUNT, [userId]);
  return row?.count ?? 0;
}

const REVOKE: Statement = {
  name: "tokens.revoke",
  text: "DELETE FROM api_tokens WHERE id = $1 AND user_id = $2 RETURNING id",
};

/** False when the user has no such token. */
export async function revokeToken(db: Queryable, userId: string, id: string): Promise<boolean> {
  return (await db.query(REVOKE, [id, userId])).length > 0;
}

const HAS: Statement = {
  name: "tokens.has",
  text: `
    SELECT 1 AS one FROM api_tokens
    WHERE token_hash = $1 AND user_id = $2 AND (expires_at IS NULL OR expires_at > now())`,
};

/** Whether the token is the user's and has not expired. */
export async function hasToken(db: Queryable, userId: string, token: string): Promise<boolean> {
  const rows = await db.query(HAS, [hashOf(token), userId]);
  return rows.length > 0;
}

const DELETE: Statement = {
  name: "tokens.delete-replaced",
  text: "DELETE FROM api_tokens WHERE (user_id = $1 AND name = $2) OR token_hash = $3",
};

/** Makes a given token the user's only one of that name; another user with the same token loses it. */
export async function replaceToken(
  db: Queryable,
  wanted: { userId: string; name: string; token: string },
): Promise<void> {
  const hash = hashOf(wanted.token);
  await db.query(DELETE, [wanted.userId, wanted.name, hash]);
  await db.query(INSERT, [randomUUID(), wanted.userId, wanted.name, hash, null, TOKEN_SCOPES]);
}

const user = selectionOf(UserEntity, "u", ["id", "username", "name", "role"]);
type AuthenticatedRow = Selected<ReturnType<(typeof user)["read"]>> &
  Pick<ApiTokenEntity, "expiresAt" | "scopes">;

/** Records the use at most once a minute, so that a busy token does not make each read a write. */
const AUTHENTICATE: Statement = {
  name: "tokens.authenticate",
  text: `
    WITH found AS (
      SELECT t.id, t.user_id, t.expires_at, t.scopes FROM api_tokens t
      WHERE t.token_hash = $1 AND (t.expires_at IS NULL OR t.expires_at > now())
    ), recorded AS (
      UPDATE api_tokens t SET last_used_at = now() FROM found
      WHERE t.id = found.id AND (t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute')
    )
    SELECT ${user.columns}, found.expires_at AS "expiresAt", found.scopes::text[] AS scopes
    FROM found JOIN users u ON u.id = found.user_id AND u.deactivated_at IS NULL`,
};

/** The token's user; null when it is unknown or expired, or the user was deactivated. */
export async function authenticateToken(db: Queryable, token: string): Promise<Viewer | null> {
  if (token.length > MAX_TOKEN_CHARACTERS) return null;
  const [row] = await db.query<AuthenticatedRow>(AUTHENTICATE, [hashOf(token)]);
  if (!row) return null;
  const { id, username, name, role } = user.read(row);
  return {
    userId: id,
    username,
    name,
    role: roleWithin(role, row.scopes),
    expiresAt: row.expiresAt?.getTime() ?? null,
    credential: { kind: "token", scopes: row.scopes },
  };
}
