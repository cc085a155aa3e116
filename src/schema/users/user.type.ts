/** People. */
import { Field, ObjectType } from "type-graphql";
import type { Permission } from "../../domain/users/permissions.js";
import type { UserRole } from "../../domain/users/viewer.js";
import { PermissionEnum, UserRoleEnum } from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";

@ObjectType("User", {
  implements: Node,
  simpleResolvers: true,
  description: "A person with an account.",
})
export class User implements Node {
  readonly __typename!: "User";

  id!: string;

  @Field(() => String, { description: "Unique; what the person signs in as." })
  username!: string;

  @Field(() => String, { description: "What the person is called." })
  name!: string;

  @Field(() => UserRoleEnum, { description: "What the person may do here." })
  role!: UserRole;

  @Field(() => Boolean, {
    description: "False = an admin has deactivated the account: nobody can sign in as this person.",
  })
  isActive!: boolean;

  @Field(() => DateTimeScalar, { description: "When the account was made." })
  createdAt!: Date;
}

@ObjectType("Viewer", {
  simpleResolvers: true,
  description: "The signed-in person and everything that only they may read.",
})
export class SignedInViewer {
  @Field(() => [PermissionEnum], {
    description: "What they may do; a token may allow less than its person may.",
  })
  permissions!: Permission[];
}
