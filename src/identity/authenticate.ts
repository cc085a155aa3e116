/** Maps a subject of the identity provider to its user, who is created on the first sign-in. */
import { type ClaimRules, type Claims, profileOf, roleOf } from "../domain/users/identity-claims.js";
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
import { changeUser, lockUser } from "../store/users/user-administration.js";

export type AuthenticateDependencies = {
  database: Database;
  rules: ClaimRules;
  /** Notifies all replicas that a user's rights changed. Called after the commit; must not throw. */
  announceUsers(): void;
  log: Log;
};

/**
 * The role follows the claims of every sign-in, except that a deployment's last admin stays one, since no other user could
 * undo it. Users are never matched by name or email address, which users may be able to choose at the provider.
 */
export async function authenticate(
  dependencies: AuthenticateDependencies,
  subject: Subject,
  claims: Claims,
): Promise<KnownIdentity> {
  const { database, rules, log } = dependencies;
  const role = roleOf(claims, rules);
  const known = await findIdentity(database, subject);
  if (known && (role === null || known.user.role === role)) return known;
  const identity = await database.transaction(async (transaction) => {
    await lockSubject(transaction, subject);
    const found = await findIdentity(transaction, subject);
    if (!found) return createIdentity(transaction, subject, { ...profileOf(claims), role: role ?? "member" });
    return role === null ? found : withRole(transaction, found, role, log);
  });
  if (known) dependencies.announceUsers();
  return identity;
}

async function withRole(
  transaction: Queryable,
  found: KnownIdentity,
  role: UserRole,
  log: Log,
): Promise<KnownIdentity> {
  const locked = await lockUser(transaction, found.user.id);
  if (!locked || locked.user.role === role) return found;
  if (role === "member" && locked.isLastAdmin) {
    log.warn({ username: locked.user.username }, "last admin keeps the role against the claims");
    return found;
  }
  return { ...found, user: await changeUser(transaction, found.user.id, { role }) };
}
