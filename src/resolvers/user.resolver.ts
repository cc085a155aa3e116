/** Who asks. */
import { Ctx, Query, Resolver } from "type-graphql";
import { encodeId } from "../domain/ids.js";
import { SignedInViewer } from "../schema/user.type.js";
import type { Context } from "./context.js";

@Resolver(() => SignedInViewer)
export class ViewerResolver {
  @Query(() => SignedInViewer, { description: "The signed-in person." })
  viewer(@Ctx() { viewer }: Context): SignedInViewer {
    const { username, name, role } = viewer;
    return {
      user: { __typename: "User", id: encodeId("user", viewer.userId), username, name, role },
      permissions: role === "admin" ? ["USE_CHATS", "READ_ALL_CHATS"] : ["USE_CHATS"],
    };
  }
}
