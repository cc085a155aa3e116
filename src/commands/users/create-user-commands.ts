/** The commands about people as one object, for whoever speaks for people. */
import { createUser, deactivateUser, reactivateUser, renameUser, setUserRole } from "./change-user.js";
import { createApiToken } from "./create-api-token.js";
import type { UserCommands, UserDependencies } from "./user-commands.js";
import { revokeApiToken } from "./revoke-api-token.js";

export function createUserCommands(dependencies: UserDependencies): UserCommands {
  return {
    createUser: (actor, input) => createUser(dependencies, actor, input),
    renameUser: (actor, input) => renameUser(dependencies, actor, input),
    setUserRole: (actor, input) => setUserRole(dependencies, actor, input),
    deactivateUser: (actor, userId) => deactivateUser(dependencies, actor, userId),
    reactivateUser: (actor, userId) => reactivateUser(dependencies, actor, userId),
    createApiToken: (viewer, input) => createApiToken(dependencies, viewer, input),
    revokeApiToken: (viewer, tokenId) => revokeApiToken(dependencies, viewer, tokenId),
  };
}
