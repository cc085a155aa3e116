/** Users' storage, and administration of its limits. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import { effectiveStorageLimit } from "../../domain/files/storage-limits.js";
import type { CommandResult } from "../../commands/common/command-result.js";
import {
  ClearUserStorageLimitInput,
  ClearUserStorageLimitPayload,
  SetUserStorageLimitInput,
  SetUserStorageLimitPayload,
  UserStorage,
} from "../../schema/files/storage.type.js";
import { User } from "../../schema/users/user.type.js";
import type { UserRecord } from "../../store/users/users.js";
import { actorOf, type Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";
import { toUser } from "../common/shapes.js";
import { invalid, toUserError } from "../common/user-errors.js";

@Resolver(() => User)
export class StorageResolver {
  @FieldResolver(() => UserStorage, {
    nullable: true,
    description: "The user's storage and its limit. Null unless the viewer is the user or an admin.",
  })
  async storage(@Root() { id }: User, @Ctx() context: Context): Promise<UserStorage | null> {
    const { viewer, loaders, storage } = context;
    const userId = databaseId("user", id, "id");
    if (viewer.userId !== userId && viewer.role !== "admin") return null;
    const { usedBytes, own } = await loaders.storedUsages.load(userId);
    return { usedBytes, ...effectiveStorageLimit(storage.defaultBytes, own) };
  }

  @Mutation(() => SetUserStorageLimitPayload, {
    description:
      "Sets a storage limit for a user, overriding the deployment's default. Takes effect at once; nothing already stored is deleted. Admins only; recorded in the audit log.",
  })
  async setUserStorageLimit(
    @Arg("input", () => SetUserStorageLimitInput, { description: "The parameters of the mutation." })
    { userId, limitBytes }: SetUserStorageLimitInput,
    @Ctx() context: Context,
  ): Promise<SetUserStorageLimitPayload> {
    const id = databaseId("user", userId, "userId");
    if (limitBytes === undefined) {
      return {
        user: null,
        userErrors: [invalid("Set a number of bytes, or null for no limit.", "limitBytes")],
      };
    }
    return toPayload(await context.storage.setUserLimit(actorOf(context), { userId: id, limitBytes }));
  }

  @Mutation(() => ClearUserStorageLimitPayload, {
    description:
      "Removes a user's own storage limit, so that the deployment's default applies again. Admins only; recorded in the audit log.",
  })
  async clearUserStorageLimit(
    @Arg("input", () => ClearUserStorageLimitInput, { description: "The parameters of the mutation." })
    { userId }: ClearUserStorageLimitInput,
    @Ctx() context: Context,
  ): Promise<ClearUserStorageLimitPayload> {
    const id = databaseId("user", userId, "userId");
    return toPayload(await context.storage.clearUserLimit(actorOf(context), id));
  }
}

function toPayload(result: CommandResult<{ user: UserRecord }>) {
  if (!result.ok) return { user: null, userErrors: [toUserError(result.refusal)] };
  return { user: toUser(result.user), userErrors: [] };
}
