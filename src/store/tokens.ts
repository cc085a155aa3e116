/** Access tokens: 256 random bits, stored as their SHA-256 only, so a stolen database opens no door. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { UserRole, Viewer } from "../domain/viewer.js";
import type { Queryable, Statement } from "./database.js";

const TOKEN_BYTES = 32;
const TOKEN_PREFIX = "ply_";
/** Ours have 47, a configured one may be longer; beyond this it is no token but an attempt to make us hash. */
const MAX_TOKEN_CHARACTERS = 1_024;

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}

const INSERT: Statement = {
  name: "tokens.create",
  text: "INSERT INTO api_tokens (id, user_id, name, token_hash, expires_at) VALUES ($1, $2, $3, $4, $5)",
};

/** The token is returned here and never again. `expiresAt` in milliseconds since the epoch; absent = never. */
export async function createToken(
  db: Queryable,
  wanted: { userId: string; name: string; expiresAt?: number },
): Promise<{ id: string; token: string }> {
  const id = randomUUID();
  const token = TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString("base64url");
  const expiresAt = wanted.expiresAt === undefined ? null : new Date(wanted.expiresAt);
  await db.query(INSERT, [id, wanted.userId, wanted.name, hashOf(token), expiresAt]);
  return { id, token };
}

const HAS: Statement = {
  name: "tokens.has",
  text: `
    SELECT 1 AS one FROM api_tokens
    WHERE token_hash = $1 AND user_id = $2 AND (expires_at IS NULL OR expires_at > now())`,
};

/** Whether this token is that person's and still counts. */
export async function hasToken(db: Queryable, userId: string, token: string): Promise<boolean> {
  const rows = await db.query(HAS, [hashOf(token), userId]);
  return rows.length > 0;
}

const DELETE: Statement = {
  name: "tokens.delete-replaced",
  text: "DELETE FROM api_tokens WHERE (user_id = $1 AND name = $2) OR token_hash = $3",
};

/** Makes a given token the person's only one of that name; whoever had the same token before loses it. */
export async function replaceToken(
  db: Queryable,
  wanted: { userId: string; name: string; token: string },
): Promise<void> {
  const hash = hashOf(wanted.token);
  await db.query(DELETE, [wanted.userId, wanted.name, hash]);
  await db.query(INSERT, [randomUUID(), wanted.userId, wanted.name, hash, null]);
}

/** Notes the use at most once a minute, so that a busy token does not make each read a write. */
const AUTHENTICATE: Statement = {
  name: "tokens.authenticate",
  text: `
    WITH found AS (
      SELECT t.id, t.user_id, t.expires_at FROM api_tokens t
      WHERE t.token_hash = $1 AND (t.expires_at IS NULL OR t.expires_at > now())
    ), noted AS (
      UPDATE api_tokens t SET last_used_at = now() FROM found
      WHERE t.id = found.id AND (t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute')
    )
    SELECT u.id, u.username, u.name, u.role, found.expires_at FROM found JOIN users u ON u.id = found.user_id`,
};

type AuthenticatedRow = {
  id: string;
  username: string;
  name: string;
  role: UserRole;
  expires_at: Date | null;
};

/** Whose token this is; null when it is unknown or has expired. */
export async function authenticateToken(db: Queryable, token: string): Promise<Viewer | null> {
  if (token.length > MAX_TOKEN_CHARACTERS) return null;
  const [row] = await db.query<AuthenticatedRow>(AUTHENTICATE, [hashOf(token)]);
  if (!row) return null;
  return {
    userId: row.id,
    username: row.username,
    name: row.name,
    role: row.role,
    expiresAt: row.expires_at?.getTime() ?? null,
  };
}
