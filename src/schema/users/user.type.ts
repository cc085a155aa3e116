/** User accounts. */
import { Field, ObjectType } from "type-graphql";
import type { Permission } from "../../domain/users/permissions.js";
import type { UserRole } from "../../domain/users/viewer.js";
import { PermissionEnum, UserRoleEnum } from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";

@ObjectType("User", {
  implements: Node,
  simpleResolvers: true,
  description: "A user account.",
})
export class User implements Node {
  readonly __typename!: "User";

  id!: string;

  @Field(() => String, { description: "The name to sign in with. Unique." })
  username!: string;

  @Field(() => String, { description: "The user's display name." })
  name!: string;

  @Field(() => UserRoleEnum, { description: "The user's role." })
  role!: UserRole;

  @Field(() => Boolean, {
    description:
      "Whether the account is active. False if an admin has deactivated it, so that the user cannot sign in.",
  })
  isActive!: boolean;

  @Field(() => DateTimeScalar, { description: "When the account was created." })
  createdAt!: Date;
}

@ObjectType("Viewer", {
  simpleResolvers: true,
  description: "The authenticated user, with everything that only they may read.",
})
export class SignedInViewer {
  @Field(() => [PermissionEnum], {
    description: "What the viewer may do. A token can have fewer permissions than its user.",
  })
  permissions!: Permission[];
}
