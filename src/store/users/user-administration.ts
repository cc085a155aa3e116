/** User administration. Changes are made within a transaction that has locked the user's row. */
import type { UserRole } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { containing, type Page, type PageRequest, toPage } from "../common/pages.js";
import { endSessionsOf } from "./sessions.js";
import { toUser, userColumns, type UserDbRow, type UserRecord } from "./users.js";

/** By username, whose index gives the order; a search scans all users of a deployment, which are thousands at most. */
function listStatement(direction: PageRequest["direction"]): Statement {
  return {
    name: `users.list.${direction}`,
    text: `
      SELECT ${userColumns} FROM users u
      WHERE ($1::text IS NULL OR u.username ILIKE $1 OR u.name ILIKE $1)
        AND ($2::text IS NULL OR u.username > $2) AND ($3::text IS NULL OR u.username < $3)
      ORDER BY u.username ${direction === "forwards" ? "ASC" : "DESC"}
      LIMIT $4`,
  };
}

const LIST = { forwards: listStatement("forwards"), backwards: listStatement("backwards") };

/** `search` is a part of the username or the name, in any case. Cursor keys are usernames in hexadecimal. */
export async function listUsers(
  db: Queryable,
  search: string | null,
  page: PageRequest,
): Promise<Page<UserRecord>> {
  const values = [
    search ? containing(search) : null,
    page.after && fromUsernameKey(page.after.key),
    page.before && fromUsernameKey(page.before.key),
    page.limit + 1,
  ];
  const users = (await db.query<UserDbRow>(LIST[page.direction], values)).map(toUser);
  return toPage(
    page,
    users.map((row) => ({ cursor: { key: toUsernameKey(row.username), id: row.id }, row })),
  );
}

/** A username as a cursor key, encoded because it may contain a cursor's separator. */
export function toUsernameKey(username: string): string {
  return Buffer.from(username, "utf8").toString("hex");
}

export function fromUsernameKey(key: string): string {
  return Buffer.from(key, "hex").toString("utf8");
}

const LOCK_ADMINS: Statement = {
  name: "users.lock-admins",
  text: `SELECT id FROM users WHERE role = 'admin' AND deactivated_at IS NULL ORDER BY id FOR UPDATE`,
};

const LOCK: Statement = {
  name: "users.lock",
  text: `SELECT ${userColumns} FROM users u WHERE u.id = $1 FOR UPDATE`,
};

/** A user whose row is locked. `isLastAdmin`: no other active admin is left. */
export type LockedUser = { user: UserRecord; isLastAdmin: boolean };

/**
 * Locks the user, and before that every admin, so that two admins cannot remove each other at the same time. Null when
 * there is no such user.
 */
export async function lockUser(transaction: Queryable, id: string): Promise<LockedUser | null> {
  const admins = await transaction.query<{ id: string }>(LOCK_ADMINS, []);
  const [row] = await transaction.query<UserDbRow>(LOCK, [id]);
  if (!row) return null;
  return { user: toUser(row), isLastAdmin: admins.length === 1 && admins[0]?.id === id };
}

const CHANGE: Statement = {
  name: "users.change",
  text: `
    UPDATE users u SET name = coalesce($2, name), role = coalesce($3::user_role, role),
      deactivated_at = CASE WHEN $4::boolean THEN NULL WHEN NOT $4 THEN coalesce(deactivated_at, now()) ELSE deactivated_at END
    WHERE u.id = $1 RETURNING ${userColumns}`,
};

/** Absent values stay. */
export type UserChange = { name?: string; role?: UserRole; isActive?: boolean };

/** Changes a user whose row is locked. */
export async function changeUser(
  transaction: Queryable,
  id: string,
  { name, role, isActive }: UserChange,
): Promise<UserRecord> {
  const values = [id, name ?? null, role ?? null, isActive ?? null];
  const [changed] = await transaction.query<UserDbRow>(CHANGE, values);
  if (!changed) throw new Error(`User ${id} was locked and is gone.`);
  // A reactivated user signs in again.
  if (isActive === false) await endSessionsOf(transaction, id);
  return toUser(changed);
}

const BUSY_CHATS: Statement = {
  name: "chats.busy-of-owner",
  text: `
    SELECT id FROM chats
    WHERE owner_id = $1 AND status IN ('pending', 'running', 'interrupting', 'requires_action')`,
};

/** The user's chats in which a turn runs or is about to. Index: chats_owner_updated_idx. */
export async function findBusyChats(db: Queryable, ownerId: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(BUSY_CHATS, [ownerId]);
  return rows.map(({ id }) => id);
}

const IS_ACTIVE: Statement = {
  name: "users.is-active",
  text: "SELECT 1 AS one FROM users WHERE id = $1 AND deactivated_at IS NULL",
};

/** False for a deactivated or unknown user. */
export async function isActiveUser(db: Queryable, id: string): Promise<boolean> {
  return (await db.query(IS_ACTIVE, [id])).length > 0;
}
