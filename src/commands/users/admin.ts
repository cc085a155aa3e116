/** Runs admin-only changes: checks the role and writes the audit entry in the same transaction. */
import type { AuditEntry } from "../../domain/users/audit.js";
import { type Actor, demandAdmin, Forbidden } from "../../domain/users/viewer.js";
import { recordAudit } from "../../store/users/audit-log.js";
import type { Database, Queryable } from "../../store/common/database.js";
import { isAdmin } from "../../store/users/users.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";

/** Result of an admin's work. `audit`: its audit entry; null = nothing has changed. */
export type AdminWork<T> =
  { ok: true; result: T; audit: AuditEntry | null } | { ok: false; refusal: CommandRefusal };

/**
 * Runs an admin's work in one transaction with its audit entry: both are committed, or neither. A refusal rolls back
 * what the work has written so far, so requests to other servers belong before it. Throws `Forbidden` unless the actor
 * is an admin in the database now, whatever the role of a long-lived connection says.
 */
export async function asAdmin<T extends object>(
  { database }: { database: Database },
  actor: Actor,
  work: (transaction: Queryable) => Promise<AdminWork<T>>,
): Promise<CommandResult<T>> {
  demandAdmin(actor);
  try {
    return await database.transaction(async (transaction) => {
      if (!(await isAdmin(transaction, actor.userId))) throw new Forbidden("Only admins may do this.");
      const done = await work(transaction);
      if (!done.ok) throw new RolledBack(done.refusal);
      const { userId, username: name, requestId } = actor;
      if (done.audit !== null) await recordAudit(transaction, { userId, name, requestId }, done.audit);
      return { ok: true, ...done.result };
    });
  } catch (error) {
    if (error instanceof RolledBack) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

/** Carries a refusal out of the transaction, rolling it back. */
class RolledBack extends Error {
  constructor(readonly refusal: CommandRefusal) {
    super("The change was refused.");
  }
}
