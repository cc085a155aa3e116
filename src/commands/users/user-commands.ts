/** What may be asked about people and their tokens. All ids are database values, not public ids. */
import type { Actor, TokenScope, UserRole, Viewer } from "../../domain/users/viewer.js";
import type { Log } from "../../lib/log.js";
import type { TokenRecord } from "../../store/users/tokens.js";
import type { UserRecord } from "../../store/users/users.js";
import type { TransitionDependencies } from "../../engine/transitions/apply-transition.js";
import type { CommandResult } from "../common/command-result.js";

export type UserDependencies = TransitionDependencies & {
  log: Log;
  /** Tells every replica that somebody's rights have changed. After the commit; never throws. */
  announceUsers(): void;
};

/** `expiresAt` in milliseconds since the epoch; absent = never. `scopes` absent = what the viewer has shown allows. */
export type CreateApiTokenInput = { name: string; expiresAt?: number; scopes?: readonly TokenScope[] };

/** `name` absent = the username. */
export type CreateUserInput = { username: string; name?: string; role: UserRole };
export type UserChanged = { user: UserRecord };

/** Changes of people are admins' alone; anybody else gets `Forbidden`. */
export interface UserCommands {
  /** The secret is the new person's first token, returned here and never again. */
  createUser(
    actor: Actor,
    input: CreateUserInput,
  ): Promise<CommandResult<{ user: UserRecord; secret: string }>>;
  renameUser(actor: Actor, input: { userId: string; name: string }): Promise<CommandResult<UserChanged>>;
  setUserRole(actor: Actor, input: { userId: string; role: UserRole }): Promise<CommandResult<UserChanged>>;
  deactivateUser(actor: Actor, userId: string): Promise<CommandResult<UserChanged>>;
  reactivateUser(actor: Actor, userId: string): Promise<CommandResult<UserChanged>>;
  /** For the viewer themselves. The secret is returned here and never again. */
  createApiToken(
    viewer: Viewer,
    input: CreateApiTokenInput,
  ): Promise<CommandResult<{ token: TokenRecord; secret: string }>>;
  /** One of the viewer's own. It stops to count at once. */
  revokeApiToken(viewer: Viewer, tokenId: string): Promise<CommandResult<{ tokenId: string }>>;
}
