/** From somebody at an identity provider to the person they are here: found, or made when they come first. */
import { type ClaimRules, type Claims, personOf, roleOf } from "../domain/users/identity-claims.js";
import type { UserRole } from "../domain/users/viewer.js";
import type { Log } from "../lib/log.js";
import type { Database, Queryable } from "../store/common/database.js";
import {
  createIdentity,
  findIdentity,
  type KnownIdentity,
  lockSubject,
  type Subject,
} from "../store/users/identities.js";
import { changeUser, holdUser } from "../store/users/user-administration.js";

export type EnterParts = {
  database: Database;
  rules: ClaimRules;
  /** Tells every replica that somebody's rights have changed. After the commit; never throws. */
  announcePeople(): void;
  log: Log;
};

/**
 * The role is what the claims say, each time anew; a deployment's last admin stays one, as nobody could undo that. A
 * person is never found by name or address: whoever may choose those at a provider would choose an admin's.
 */
export async function enter(parts: EnterParts, subject: Subject, claims: Claims): Promise<KnownIdentity> {
  const role = roleOf(claims, parts.rules);
  const known = await findIdentity(parts.database, subject);
  if (known && (role === null || known.user.role === role)) return known;
  const entered = await parts.database.transaction(async (transaction) => {
    await lockSubject(transaction, subject);
    const found = await findIdentity(transaction, subject);
    if (!found) return createIdentity(transaction, subject, { ...personOf(claims), role: role ?? "member" });
    return role === null ? found : withRole(transaction, found, role, parts.log);
  });
  if (known) parts.announcePeople();
  return entered;
}

async function withRole(
  transaction: Queryable,
  found: KnownIdentity,
  role: UserRole,
  log: Log,
): Promise<KnownIdentity> {
  const held = await holdUser(transaction, found.user.id);
  if (!held || held.user.role === role) return found;
  if (role === "member" && held.isLastAdmin) {
    log.warn({ username: held.user.username }, "The last admin stays one, though the claims say otherwise");
    return found;
  }
  return { ...found, user: await changeUser(transaction, found.user.id, { role }) };
}
