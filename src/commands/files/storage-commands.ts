/** Admin commands on users' storage limits. All ids are database values, not public ids. */
import { auditChanges } from "../../domain/users/audit.js";
import { encodeId } from "../../domain/common/ids.js";
import type { Actor } from "../../domain/users/viewer.js";
import type { Database, Queryable } from "../../store/common/database.js";
import {
  clearStorageLimitOverride,
  lockStorageLimitOverride,
  setStorageLimitOverride,
  type StorageLimitOverride,
} from "../../store/files/storage.js";
import { findUsersByIds, type UserRecord } from "../../store/users/users.js";
import { bindDependencies } from "../common/bind-dependencies.js";
import { asAdmin, type AdminWork } from "../users/admin.js";
import type { CommandResult } from "../common/command-result.js";
import { notFound, refuse } from "../common/command-dependencies.js";

export type StorageCommandsDependencies = {
  database: Database;
  /** Notifies every replica that limits have changed. After the commit; never throws. */
  announceLimits(): void;
  /** For users without a limit of their own; null = none. */
  defaultBytes: bigint | null;
};

type UserChanged = { user: UserRecord };

/** Replaces the deployment's default for this user; `limitBytes` null = no limit. */
async function setUserLimit(
  dependencies: StorageCommandsDependencies,
  actor: Actor,
  { userId, limitBytes }: { userId: string; limitBytes: bigint | null },
): Promise<CommandResult<UserChanged>> {
  if (limitBytes === null || limitBytes >= 0n) return change(dependencies, actor, userId, { limitBytes });
  return refuse({ code: "INVALID", message: "A limit is 0 or more bytes.", path: ["limitBytes"] });
}

/** The default applies again; succeeds when the user has no limit of their own. */
function clearUserLimit(
  dependencies: StorageCommandsDependencies,
  actor: Actor,
  userId: string,
): Promise<CommandResult<UserChanged>> {
  return change(dependencies, actor, userId, null);
}

/** Changes throw `Forbidden` unless the actor is an admin, and apply at once, to running turns too. */
export type StorageCommands = ReturnType<typeof createStorageCommands>;

export function createStorageCommands(dependencies: StorageCommandsDependencies) {
  const { defaultBytes } = dependencies;
  return { defaultBytes, ...bindDependencies(dependencies, { setUserLimit, clearUserLimit }) };
}

async function change(
  dependencies: StorageCommandsDependencies,
  actor: Actor,
  userId: string,
  after: StorageLimitOverride | null,
): Promise<CommandResult<UserChanged>> {
  const result = await asAdmin(dependencies, actor, (transaction) => write(transaction, userId, after));
  if (result.ok) dependencies.announceLimits();
  return result;
}

async function write(
  transaction: Queryable,
  userId: string,
  after: StorageLimitOverride | null,
): Promise<AdminWork<UserChanged>> {
  const [user] = await findUsersByIds(transaction, [userId]);
  if (!user) return notFound("user", "userId");
  const before = await lockStorageLimitOverride(transaction, userId);
  // "No limit" and "no limit of their own" would both be null in the audit entry, so the former is `unlimited`.
  const changes = auditChanges(shown(before), shown(after));
  if (Object.keys(changes).length === 0) return { ok: true, result: { user }, audit: null };
  if (after === null) await clearStorageLimitOverride(transaction, userId);
  else await setStorageLimitOverride(transaction, userId, after);
  const action = after === null ? "user_storage_limit_cleared" : "user_storage_limit_set";
  const audit = { action, targetId: encodeId("user", userId), targetName: user.username, changes } as const;
  return { ok: true, result: { user }, audit };
}

function shown(override: StorageLimitOverride | null): { limitBytes: string } | null {
  return override && { limitBytes: override.limitBytes?.toString() ?? "unlimited" };
}
