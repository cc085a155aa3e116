/** Administration of user accounts. */
import { Arg, Args, Ctx, Mutation, Query, Resolver } from "type-graphql";
import { demandAdmin } from "../../domain/users/viewer.js";
import type { CommandResult } from "../../commands/common/command-result.js";
import type { UserChanged } from "../../commands/users/change-user.js";
import { type Connection, ForwardPageArguments } from "../../schema/common/connection.js";
import {
  CreateUserInput,
  CreateUserPayload,
  DeactivateUserInput,
  DeactivateUserPayload,
  ReactivateUserInput,
  ReactivateUserPayload,
  SetUserRoleInput,
  SetUserRolePayload,
  UpdateUserInput,
  UpdateUserPayload,
  UserConnection,
} from "../../schema/users/user-administration.type.js";
import { User } from "../../schema/users/user.type.js";
import { listUsers } from "../../store/users/user-administration.js";
import { actorOf, type Context } from "../common/context.js";
import { byUsername, toConnection, toPageRequest } from "../common/page-requests.js";
import { databaseId } from "../common/public-ids.js";
import { toUser } from "../common/shapes.js";
import { toUserError } from "../common/user-errors.js";

const RULES = byUsername("users");

@Resolver(() => User)
export class UserAdministrationResolver {
  @Query(() => UserConnection, {
    description: "All user accounts, sorted by username. Default page size: 25. Admins only.",
  })
  async users(
    @Args(() => ForwardPageArguments) page: ForwardPageArguments,
    @Arg("search", () => String, {
      nullable: true,
      description: "Only users whose username or display name contains this text, ignoring case.",
    })
    search: string | null | undefined,
    @Ctx() context: Context,
  ): Promise<Connection<User>> {
    demandAdmin(context.viewer);
    const found = await listUsers(context.database, search ?? null, toPageRequest(RULES, page));
    return toConnection(RULES, found, toUser);
  }

  @Mutation(() => CreateUserPayload, {
    description: "Creates a user account with a first API token. Admins only; recorded in the audit log.",
  })
  async createUser(
    @Arg("input", () => CreateUserInput, { description: "The parameters of the mutation." })
    input: CreateUserInput,
    @Ctx() context: Context,
  ): Promise<CreateUserPayload> {
    const { username, name, role } = input;
    const wanted = { username, role, ...(name != null && { name }) };
    const result = await context.userCommands.createUser(actorOf(context), wanted);
    if (!result.ok) return { user: null, secret: null, userErrors: [toUserError(result.refusal)] };
    return { user: toUser(result.user), secret: result.secret, userErrors: [] };
  }

  @Mutation(() => UpdateUserPayload, {
    description: "Changes a user's display name. Admins only; recorded in the audit log.",
  })
  async updateUser(
    @Arg("input", () => UpdateUserInput, { description: "The parameters of the mutation." })
    input: UpdateUserInput,
    @Ctx() context: Context,
  ): Promise<UpdateUserPayload> {
    const wanted = { userId: databaseId("user", input.userId, "userId"), name: input.name };
    return toPayload(await context.userCommands.renameUser(actorOf(context), wanted));
  }

  @Mutation(() => SetUserRolePayload, {
    description:
      "Changes a user's role. Their open connections are re-authorized at once. The last active admin cannot be demoted. Admins only; recorded in the audit log.",
  })
  async setUserRole(
    @Arg("input", () => SetUserRoleInput, { description: "The parameters of the mutation." })
    input: SetUserRoleInput,
    @Ctx() context: Context,
  ): Promise<SetUserRolePayload> {
    const wanted = { userId: databaseId("user", input.userId, "userId"), role: input.role };
    return toPayload(await context.userCommands.setUserRole(actorOf(context), wanted));
  }

  @Mutation(() => DeactivateUserPayload, {
    description:
      "Deactivates a user account: revokes access for its tokens and sessions, closes its WebSockets and event streams, and interrupts its turns. Queued messages stay queued. Repeating it interrupts turns that are still running. The last active admin cannot be deactivated. Admins only; recorded in the audit log.",
  })
  async deactivateUser(
    @Arg("input", () => DeactivateUserInput, { description: "The parameters of the mutation." })
    input: DeactivateUserInput,
    @Ctx() context: Context,
  ): Promise<DeactivateUserPayload> {
    const userId = databaseId("user", input.userId, "userId");
    return toPayload(await context.userCommands.deactivateUser(actorOf(context), userId));
  }

  @Mutation(() => ReactivateUserPayload, {
    description:
      "Reactivates a user account. Its tokens work again; in browsers, the user must sign in again. Admins only; recorded in the audit log.",
  })
  async reactivateUser(
    @Arg("input", () => ReactivateUserInput, { description: "The parameters of the mutation." })
    input: ReactivateUserInput,
    @Ctx() context: Context,
  ): Promise<ReactivateUserPayload> {
    const userId = databaseId("user", input.userId, "userId");
    return toPayload(await context.userCommands.reactivateUser(actorOf(context), userId));
  }
}

function toPayload(result: CommandResult<UserChanged>) {
  if (!result.ok) return { user: null, userErrors: [toUserError(result.refusal)] };
  return { user: toUser(result.user), userErrors: [] };
}
