/** The commands about people as one object, for whoever speaks for people. */
import { createUser, deactivateUser, reactivateUser, renameUser, setUserRole } from "./change-user.js";
import { createApiToken } from "./create-api-token.js";
import type { PeopleCommands, PeopleParts } from "./user-commands.js";
import { revokeApiToken } from "./revoke-api-token.js";

export function createPeopleCommands(parts: PeopleParts): PeopleCommands {
  return {
    createUser: (actor, input) => createUser(parts, actor, input),
    renameUser: (actor, input) => renameUser(parts, actor, input),
    setUserRole: (actor, input) => setUserRole(parts, actor, input),
    deactivateUser: (actor, userId) => deactivateUser(parts, actor, userId),
    reactivateUser: (actor, userId) => reactivateUser(parts, actor, userId),
    createApiToken: (viewer, input) => createApiToken(parts, viewer, input),
    revokeApiToken: (viewer, tokenId) => revokeApiToken(parts, viewer, tokenId),
  };
}
