/** What only admins may change: the one way in, which asks who it is and writes the audit log with the change. */
import type { AuditEntry } from "../../domain/users/audit.js";
import { type Actor, demandAdmin, Forbidden } from "../../domain/users/viewer.js";
import { recordAudit } from "../../store/users/audit-log.js";
import type { Database, Queryable } from "../../store/common/database.js";
import { isAdmin } from "../../store/users/users.js";
import type { CommandRefusal, CommandResult } from "../chats/chat-commands.js";

/** What an admin's work gives: `audit` is its line in the log; null = it turned out to change nothing. */
export type AdminWork<T> =
  { ok: true; result: T; audit: AuditEntry | null } | { ok: false; refusal: CommandRefusal };

/**
 * Runs an admin's work in one transaction with its line in the audit log: both are there afterwards, or neither. A
 * refusal undoes what the work has written so far. What must not be undone, such as asking another server, is done
 * before. Throws `Forbidden` for anybody who is no admin at this moment, whatever a socket opened long ago remembers.
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
      if (!done.ok) throw new Undone(done.refusal);
      const { userId, username: name, requestId } = actor;
      if (done.audit !== null) await recordAudit(transaction, { userId, name, requestId }, done.audit);
      return { ok: true, ...done.result };
    });
  } catch (error) {
    if (error instanceof Undone) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

/** Takes a refusal out of a transaction, which it rolls back on the way. */
class Undone extends Error {
  constructor(readonly refusal: CommandRefusal) {
    super("The change was refused.");
  }
}
