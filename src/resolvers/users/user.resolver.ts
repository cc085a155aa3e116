/** The viewer. */
import { Ctx, FieldResolver, Query, Resolver } from "type-graphql";
import { permissionsOf } from "../../domain/users/permissions.js";
import { SignedInViewer, User } from "../../schema/users/user.type.js";
import type { Context } from "../common/context.js";
import { findUser } from "../common/links.js";

@Resolver(() => SignedInViewer)
export class ViewerResolver {
  @Query(() => SignedInViewer, { description: "The authenticated user." })
  viewer(@Ctx() { viewer }: Context): SignedInViewer {
    return { permissions: permissionsOf(viewer) };
  }

  @FieldResolver(() => User, { description: "The user." })
  user(@Ctx() context: Context): Promise<User> {
    // The viewer's effective role: the token may allow less than the account's role.
    return findUser(context, context.viewer.userId);
  }
}
