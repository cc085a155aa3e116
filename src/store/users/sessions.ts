/** Sign-in sessions of browsers: 256 random bits each, stored as their SHA-256 only. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { TOKEN_SCOPES, type Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import type { UserSessionEntity } from "./user-session.entity.js";
import { UserEntity } from "./user.entity.js";

const SESSION_BYTES = 32;
/** The form of a session secret; anything else is not looked up. */
const SESSION = /^[A-Za-z0-9_-]{43}$/;

function hashOf(session: string): Buffer {
  return createHash("sha256").update(session, "utf8").digest();
}

/** How long sessions last: `lifeMs` however much they are used, `idleMs` without use. */
export type SessionLimits = { lifeMs: number; idleMs: number };

/** Also deletes expired sessions, which is cheap as sign-ins are rare. Index: user_sessions_expiry_idx. */
const CREATE: Statement = {
  name: "sessions.create",
  text: `
    WITH expired AS (DELETE FROM user_sessions WHERE expires_at < now())
    INSERT INTO user_sessions (id, user_id, identity_id, token_hash, expires_at, idle_expires_at)
    VALUES ($1, $2, $3, $4, now() + $5::float8 * interval '1 millisecond',
      now() + $6::float8 * interval '1 millisecond')`,
};

/** Returns the session secret, which cannot be read again. */
export async function createSession(
  db: Queryable,
  { userId, identityId }: { userId: string; identityId: string },
  { lifeMs, idleMs }: SessionLimits,
): Promise<string> {
  const session = randomBytes(SESSION_BYTES).toString("base64url");
  await db.query(CREATE, [randomUUID(), userId, identityId, hashOf(session), lifeMs, idleMs]);
  return session;
}

const user = selectionOf(UserEntity, "u", ["id", "username", "name", "role"]);
type AuthenticatedRow = Selected<ReturnType<(typeof user)["read"]>> & Pick<UserSessionEntity, "expiresAt">;

/** Records the use at most once a minute, or more often when sessions expire sooner than that. */
const AUTHENTICATE: Statement = {
  name: "sessions.authenticate",
  text: `
    WITH found AS (
      SELECT id, user_id, expires_at FROM user_sessions
      WHERE token_hash = $1 AND expires_at > now() AND idle_expires_at > now()
    ), recorded AS (
      UPDATE user_sessions s SET last_seen_at = now(), idle_expires_at = now() + $2::float8 * interval '1 millisecond'
      FROM found
      WHERE s.id = found.id
        AND s.last_seen_at < now() - least(interval '1 minute', $2::float8 / 4 * interval '1 millisecond')
    )
    SELECT ${user.columns}, found.expires_at AS "expiresAt"
    FROM found JOIN users u ON u.id = found.user_id AND u.deactivated_at IS NULL`,
};

/** The session's user; null when it is unknown or expired, or the user was deactivated. */
export async function authenticateSession(
  db: Queryable,
  session: string,
  { idleMs }: SessionLimits,
): Promise<Viewer | null> {
  if (!SESSION.test(session)) return null;
  const [row] = await db.query<AuthenticatedRow>(AUTHENTICATE, [hashOf(session), idleMs]);
  if (!row) return null;
  const { id, username, name, role } = user.read(row);
  const credential = { kind: "session" as const, scopes: TOKEN_SCOPES };
  return { userId: id, username, name, role, expiresAt: row.expiresAt.getTime(), credential };
}

const END: Statement = {
  name: "sessions.end",
  text: `DELETE FROM user_sessions WHERE token_hash = $1 RETURNING identity_id AS "identityId"`,
};

/** Returns the identity that had signed in; null when there is no such session. */
export async function endSession(db: Queryable, session: string): Promise<string | null> {
  if (!SESSION.test(session)) return null;
  const [ended] = await db.query<{ identityId: string }>(END, [hashOf(session)]);
  return ended?.identityId ?? null;
}

const END_ALL: Statement = {
  name: "sessions.end-all",
  text: "DELETE FROM user_sessions WHERE user_id = $1",
};

/** Signs all of the user's browsers out. */
export async function endSessionsOf(db: Queryable, userId: string): Promise<void> {
  await db.query(END_ALL, [userId]);
}
