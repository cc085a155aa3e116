/** User administration by admins: accounts, names, roles and deactivation. Others get `Forbidden`. */
import { auditChanges, type AuditAction } from "../../domain/users/audit.js";
import { encodeId } from "../../domain/common/ids.js";
import { userNameProblem, usernameProblem } from "../../domain/users/user-rules.js";
import type { Actor, UserRole } from "../../domain/users/viewer.js";
import type { Queryable } from "../../store/common/database.js";
import { createToken } from "../../store/users/tokens.js";
import {
  changeUser,
  findBusyChats,
  lockUser,
  type UserChange,
} from "../../store/users/user-administration.js";
import { createUser as insertUser, type UserRecord } from "../../store/users/users.js";
import { applyTransition } from "../../engine/transitions/apply-transition.js";
import { type AdminWork, asAdmin } from "./admin.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import { notFound, refuse } from "../common/command-dependencies.js";
import type { UserDependencies } from "./user-dependencies.js";

const FIRST_TOKEN_NAME = "made with the account";

/** `name` absent = the username. */
export type CreateUserInput = { username: string; name?: string; role: UserRole };
export type UserChanged = { user: UserRecord };

/** Creates a user with a first token. `secret` is that token, returned here and never again. */
export async function createUser(
  dependencies: UserDependencies,
  actor: Actor,
  { username, name, role }: CreateUserInput,
): Promise<CommandResult<{ user: UserRecord; secret: string }>> {
  return asAdmin(dependencies, actor, async (transaction) => {
    const refusal = problemOfNew({ username, name });
    if (refusal) return refuse(refusal);
    const user = await insertUser(transaction, { username, name: (name ?? username).trim(), role });
    if (!user) {
      const message = "This username is already taken.";
      return refuse({ code: "CONFLICT", message, path: ["username"] });
    }
    const { token: secret } = await createToken(transaction, { userId: user.id, name: FIRST_TOKEN_NAME });
    return { ok: true, result: { user, secret }, audit: auditOf("user_created", null, user) };
  });
}

function problemOfNew({ username, name }: Pick<CreateUserInput, "username" | "name">): CommandRefusal | null {
  const usernameMessage = usernameProblem(username);
  if (usernameMessage) return { code: "INVALID", message: usernameMessage, path: ["username"] };
  const nameMessage = name === undefined ? null : userNameProblem(name.trim());
  return nameMessage ? { code: "INVALID", message: nameMessage, path: ["name"] } : null;
}

export async function renameUser(
  dependencies: UserDependencies,
  actor: Actor,
  { userId, name }: { userId: string; name: string },
): Promise<CommandResult<UserChanged>> {
  return asAdmin(dependencies, actor, async (transaction) => {
    const message = userNameProblem(name.trim());
    if (message) return refuse({ code: "INVALID", message, path: ["name"] });
    return changeLocked(transaction, { userId, change: { name: name.trim() }, action: "user_updated" });
  });
}

export async function setUserRole(
  dependencies: UserDependencies,
  actor: Actor,
  { userId, role }: { userId: string; role: UserRole },
): Promise<CommandResult<UserChanged>> {
  const result = await asAdmin(dependencies, actor, (transaction) =>
    changeLocked(transaction, { userId, change: { role }, action: "user_role_changed" }),
  );
  if (result.ok) dependencies.announceUsers();
  return result;
}

/**
 * Invalidates the user's tokens and sessions and stops their turns; queued messages stay. Repeating it stops turns that
 * still run.
 */
export async function deactivateUser(
  dependencies: UserDependencies,
  actor: Actor,
  userId: string,
): Promise<CommandResult<UserChanged>> {
  const result = await asAdmin(dependencies, actor, (transaction) =>
    changeLocked(transaction, { userId, change: { isActive: false }, action: "user_deactivated" }),
  );
  if (!result.ok) return result;
  dependencies.announceUsers();
  await stopTurns(dependencies, userId);
  return result;
}

/** Tokens are valid again; browser sessions are not. */
export async function reactivateUser(
  dependencies: UserDependencies,
  actor: Actor,
  userId: string,
): Promise<CommandResult<UserChanged>> {
  const result = await asAdmin(dependencies, actor, (transaction) =>
    changeLocked(transaction, { userId, change: { isActive: true }, action: "user_reactivated" }),
  );
  if (result.ok) dependencies.announceUsers();
  return result;
}

type Change = { userId: string; change: UserChange; action: AuditAction };

async function changeLocked(
  transaction: Queryable,
  { userId, change, action }: Change,
): Promise<AdminWork<UserChanged>> {
  const locked = await lockUser(transaction, userId);
  if (!locked) return notFound("user", "userId");
  const { user, isLastAdmin } = locked;
  if (isLastAdmin && (change.role === "member" || change.isActive === false)) {
    const message = "This is the last active admin. Make another user an admin first.";
    return refuse({ code: "CONFLICT", message, path: ["userId"] });
  }
  const changed = await changeUser(transaction, userId, change);
  const isSame = JSON.stringify(changed) === JSON.stringify(user);
  return { ok: true, result: { user: changed }, audit: isSame ? null : auditOf(action, user, changed) };
}

/** A chat that cannot be stopped does not keep the others running. */
async function stopTurns(dependencies: UserDependencies, ownerId: string): Promise<void> {
  for (const chatId of await findBusyChats(dependencies.database, ownerId)) {
    try {
      await applyTransition(dependencies, { chatId, commands: [{ type: "interrupt", keepsQueue: true }] });
    } catch (error) {
      dependencies.log.error({ err: error, chatId }, "turn of a deactivated user was not stopped");
    }
  }
}

function auditOf(action: AuditAction, before: UserRecord | null, after: UserRecord) {
  const shown = ({ username, name, role, isActive }: UserRecord) => ({ username, name, role, isActive });
  return {
    action,
    targetId: encodeId("user", after.id),
    targetName: after.username,
    changes: auditChanges(before && shown(before), shown(after)),
  };
}
