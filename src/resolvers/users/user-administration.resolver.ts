/** Admins look after people. */
import { Arg, Args, Ctx, Mutation, Query, Resolver } from "type-graphql";
import { demandAdmin } from "../../domain/users/viewer.js";
import type { CommandResult } from "../../commands/chats/chat-commands.js";
import type { UserChanged } from "../../commands/users/user-commands.js";
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
    description: "Everybody with an account, by username; 25 unless asked otherwise. Admins only.",
  })
  async users(
    @Args(() => ForwardPageArguments) page: ForwardPageArguments,
    @Arg("search", () => String, {
      nullable: true,
      description: "Part of the username or the name, in any case.",
    })
    search: string | null | undefined,
    @Ctx() context: Context,
  ): Promise<Connection<User>> {
    demandAdmin(context.viewer);
    const found = await listUsers(context.database, search ?? null, toPageRequest(RULES, page));
    return toConnection(RULES, found, toUser);
  }

  @Mutation(() => CreateUserPayload, {
    description: "Makes an account with a first token. For admins; recorded in the audit log.",
  })
  async createUser(
    @Arg("input", () => CreateUserInput, { description: "The person." }) input: CreateUserInput,
    @Ctx() context: Context,
  ): Promise<CreateUserPayload> {
    const { username, name, role } = input;
    const wanted = { username, role, ...(name != null && { name }) };
    const result = await context.people.createUser(actorOf(context), wanted);
    if (!result.ok) return { user: null, secret: null, userErrors: [toUserError(result.refusal)] };
    return { user: toUser(result.user), secret: result.secret, userErrors: [] };
  }

  @Mutation(() => UpdateUserPayload, {
    description: "Changes what somebody is called. For admins; recorded in the audit log.",
  })
  async updateUser(
    @Arg("input", () => UpdateUserInput, { description: "Who, and the name." }) input: UpdateUserInput,
    @Ctx() context: Context,
  ): Promise<UpdateUserPayload> {
    const wanted = { userId: databaseId("user", input.userId, "userId"), name: input.name };
    return toPayload(await context.people.renameUser(actorOf(context), wanted));
  }

  @Mutation(() => SetUserRolePayload, {
    description:
      "Makes somebody an admin, or a member again. What they have open is looked at anew at once. The last active admin stays one. For admins; recorded in the audit log.",
  })
  async setUserRole(
    @Arg("input", () => SetUserRoleInput, { description: "Who, and the role." }) input: SetUserRoleInput,
    @Ctx() context: Context,
  ): Promise<SetUserRolePayload> {
    const wanted = { userId: databaseId("user", input.userId, "userId"), role: input.role };
    return toPayload(await context.people.setUserRole(actorOf(context), wanted));
  }

  @Mutation(() => DeactivateUserPayload, {
    description:
      "Lets somebody in no more: their tokens do not count, their browsers are signed out, their sockets and event streams are closed, and their turns are stopped, while what waits in queues goes on waiting. Asked for again it stops what runs still. The last active admin stays. For admins; recorded in the audit log.",
  })
  async deactivateUser(
    @Arg("input", () => DeactivateUserInput, { description: "Who." }) input: DeactivateUserInput,
    @Ctx() context: Context,
  ): Promise<DeactivateUserPayload> {
    const userId = databaseId("user", input.userId, "userId");
    return toPayload(await context.people.deactivateUser(actorOf(context), userId));
  }

  @Mutation(() => ReactivateUserPayload, {
    description:
      "Lets somebody in again. Their tokens count again; with a browser they sign in anew. For admins; recorded in the audit log.",
  })
  async reactivateUser(
    @Arg("input", () => ReactivateUserInput, { description: "Who." }) input: ReactivateUserInput,
    @Ctx() context: Context,
  ): Promise<ReactivateUserPayload> {
    const userId = databaseId("user", input.userId, "userId");
    return toPayload(await context.people.reactivateUser(actorOf(context), userId));
  }
}

function toPayload(result: CommandResult<UserChanged>) {
  if (!result.ok) return { user: null, userErrors: [toUserError(result.refusal)] };
  return { user: toUser(result.user), userErrors: [] };
}
