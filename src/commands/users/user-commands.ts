/** User and API token commands, bound to their dependencies. */
import { bindDependencies } from "../common/bind-dependencies.js";
import { createUser, deactivateUser, reactivateUser, renameUser, setUserRole } from "./change-user.js";
import { createApiToken } from "./create-api-token.js";
import { revokeApiToken } from "./revoke-api-token.js";
import type { UserDependencies } from "./user-dependencies.js";

/** All ids are database values, not public ids. Changes of users throw `Forbidden` unless the actor is an admin. */
export type UserCommands = ReturnType<typeof createUserCommands>;

export function createUserCommands(dependencies: UserDependencies) {
  return bindDependencies(dependencies, {
    ...{ createUser, renameUser, setUserRole, deactivateUser, reactivateUser },
    ...{ createApiToken, revokeApiToken },
  });
}
