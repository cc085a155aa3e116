/** User accounts, and the very first of them. */
import { randomBytes, randomUUID } from "node:crypto";
import type { UserRole } from "../../domain/users/viewer.js";
import type { Database, Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { createToken, hasToken, replaceToken } from "./tokens.js";
import { UserEntity } from "./user.entity.js";

const user = selectionOf(UserEntity, "u", ["id", "username", "name", "role", "createdAt"]);
type IsActive = { isActive: boolean };

/** `isActive`: false = they cannot sign in, and none of their tokens counts. */
export type UserRecord = ReturnType<(typeof user)["read"]> & IsActive;

/** For statements whose rows go to `toUser`; the table's alias is `u`. */
export const userColumns = `${user.columns}, u.deactivated_at IS NULL AS "isActive"`;
export type UserDbRow = Selected<ReturnType<(typeof user)["read"]>> & IsActive;

export const toUser: (row: UserDbRow) => UserRecord = user.readWith({
  isActive: ({ isActive }: UserDbRow) => isActive,
});

const CREATE: Statement = {
  name: "users.create",
  text: `
    INSERT INTO users AS u (id, username, name, role) VALUES ($1, $2, $3, $4)
    ON CONFLICT (username) DO NOTHING
    RETURNING ${userColumns}`,
};

/** Null when the username is taken. */
export async function createUser(
  db: Queryable,
  input: { username: string; name: string; role: UserRole },
): Promise<UserRecord | null> {
  const [made] = await db.query<UserDbRow>(CREATE, [randomUUID(), input.username, input.name, input.role]);
  return made ? toUser(made) : null;
}

const FIND: Statement = {
  name: "users.find",
  text: `SELECT ${userColumns} FROM users u WHERE u.id = ANY($1::uuid[])`,
};

/** In no order. Whether the viewer may know them is the caller's to judge. */
export async function findUsersByIds(db: Queryable, ids: readonly string[]): Promise<UserRecord[]> {
  return (await db.query<UserDbRow>(FIND, [ids])).map(toUser);
}

const BY_USERNAME: Statement = {
  name: "users.by-username",
  text: `SELECT ${userColumns} FROM users u WHERE u.username = $1`,
};

export async function findUserByUsername(db: Queryable, username: string): Promise<UserRecord | null> {
  const [found] = await db.query<UserDbRow>(BY_USERNAME, [username]);
  return found ? toUser(found) : null;
}

const IS_ADMIN: Statement = {
  name: "users.is-admin",
  text: "SELECT 1 FROM users WHERE id = $1 AND role = 'admin' AND deactivated_at IS NULL",
};

/** Whether the user is an admin as of now, bypassing caches. */
export async function isAdmin(db: Queryable, userId: string): Promise<boolean> {
  return (await db.query(IS_ADMIN, [userId])).length > 0;
}

const preferences = selectionOf(UserEntity, "", ["customPrompt", "defaultModelConfigId"]);

/** A user's preferences for all their chats. */
export type Preferences = ReturnType<(typeof preferences)["read"]>;

const PREFERENCES: Statement = {
  name: "users.preferences",
  text: `SELECT ${preferences.columns} FROM users WHERE id = $1`,
};

/** Empty preferences for an unknown user. */
export async function readPreferences(db: Queryable, userId: string): Promise<Preferences> {
  const [found] = await db.query<Selected<Preferences>>(PREFERENCES, [userId]);
  return found ? preferences.read(found) : { customPrompt: "", defaultModelConfigId: null };
}

const SET_PREFERENCES: Statement = {
  name: "users.set-preferences",
  text: `UPDATE users SET custom_prompt = coalesce($2, custom_prompt),
    default_model_config_id = CASE WHEN $3::boolean THEN $4::uuid ELSE default_model_config_id END
    WHERE id = $1`,
};

/** Absent values stay. */
export async function setPreferences(
  db: Queryable,
  userId: string,
  changes: Partial<Preferences>,
): Promise<void> {
  const { customPrompt, defaultModelConfigId } = changes;
  const values = [
    userId,
    customPrompt ?? null,
    defaultModelConfigId !== undefined,
    defaultModelConfigId ?? null,
  ];
  await db.query(SET_PREFERENCES, values);
}

/** The oldest account of an active admin; null before the first start. */
export async function findOldestAdmin(db: Queryable): Promise<UserRecord | null> {
  const [found] = await db.query<UserDbRow>(OLDEST_ADMIN, []);
  return found ? toUser(found) : null;
}

/** Serialises replicas that start together; any fixed number does. */
const FIRST_ADMIN_LOCK = 7_276_002;
const LOCK: Statement = { name: "users.first-admin-lock", text: "SELECT pg_advisory_xact_lock($1)" };

const OLDEST_ADMIN: Statement = {
  name: "users.oldest-admin",
  text: `
    SELECT ${userColumns} FROM users u WHERE u.role = 'admin' AND u.deactivated_at IS NULL
    ORDER BY u.created_at, u.id LIMIT 1`,
};

/** The token that comes from the configuration; a new value there replaces the old one. */
const CONFIGURED_TOKEN_NAME = "configured first admin";
const GENERATED_TOKEN_NAME = "generated at the first start";

/**
 * Makes sure that there is an admin, and that the given token is theirs. Returns the admin and their token when the
 * token was given or made just now; null when there was an admin already and no token was given.
 */
export async function ensureFirstAdmin(
  db: Database,
  options: { token?: string },
): Promise<{ user: UserRecord; token: string } | null> {
  return db.transaction(async (transaction) => {
    await transaction.query(LOCK, [FIRST_ADMIN_LOCK]);
    const existing = await findOldestAdmin(transaction);
    const user = existing ?? (await createFirstAdmin(transaction));
    if (options.token === undefined) {
      if (existing) return null;
      const made = await createToken(transaction, { userId: user.id, name: GENERATED_TOKEN_NAME });
      return { user, token: made.token };
    }
    if (!(await hasToken(transaction, user.id, options.token))) {
      await replaceToken(transaction, { userId: user.id, name: CONFIGURED_TOKEN_NAME, token: options.token });
    }
    return { user, token: options.token };
  });
}

async function createFirstAdmin(db: Queryable): Promise<UserRecord> {
  const role = "admin";
  const made =
    (await createUser(db, { username: "admin", name: "Administrator", role })) ??
    (await createUser(db, {
      username: `admin-${randomBytes(4).toString("hex")}`,
      name: "Administrator",
      role,
    }));
  if (!made) throw new Error("Neither `admin` nor a random username was free for the first admin.");
  return made;
}
