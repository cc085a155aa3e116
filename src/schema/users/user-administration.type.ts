/** Administration of user accounts. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { UserRole } from "../../domain/users/viewer.js";
import { connectionType } from "../common/connection.js";
import { UserRoleEnum } from "../common/enums.js";
import { UserError } from "../common/user-error.interface.js";
import { User } from "./user.type.js";

export const UserConnection = connectionType(User, "User");

const WHY = "Why the mutation was refused. Empty on success.";

@InputType("CreateUserInput", { description: "Input of `createUser`." })
export class CreateUserInput {
  @Field(() => String, {
    description:
      "The name to sign in with: 1 to 64 lowercase letters, digits and `. _ @ + -`, starting with a letter or digit; unique.",
  })
  username!: string;

  @Field(() => String, {
    nullable: true,
    description: "The user's display name: 1 to 200 characters. Defaults to the username.",
  })
  name?: string | null;

  @Field(() => UserRoleEnum, { defaultValue: "member", description: "The user's role." })
  role!: UserRole;
}

@ObjectType("CreateUserPayload", { simpleResolvers: true, description: "The new user." })
export class CreateUserPayload {
  @Field(() => User, { nullable: true, description: "The user. Null if the mutation was refused." })
  user!: User | null;

  @Field(() => String, {
    nullable: true,
    description: "The user's first API token, with all rights of the user. Shown only once.",
  })
  secret!: string | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@InputType("UpdateUserInput", { description: "Input of `updateUser`." })
export class UpdateUserInput {
  @Field(() => ID, { description: "The user." })
  userId!: string;

  @Field(() => String, { description: "The user's display name: 1 to 200 characters." })
  name!: string;
}

@InputType("SetUserRoleInput", { description: "Input of `setUserRole`." })
export class SetUserRoleInput {
  @Field(() => ID, { description: "The user." })
  userId!: string;

  @Field(() => UserRoleEnum, {
    description:
      "The user's role. If roles are mapped from identity provider claims, the next sign-in may change it again.",
  })
  role!: UserRole;
}

@InputType("DeactivateUserInput", { description: "Input of `deactivateUser`." })
export class DeactivateUserInput {
  @Field(() => ID, { description: "The user." })
  userId!: string;
}

@InputType("ReactivateUserInput", { description: "Input of `reactivateUser`." })
export class ReactivateUserInput {
  @Field(() => ID, { description: "The user." })
  userId!: string;
}

@ObjectType("UpdateUserPayload", { simpleResolvers: true, description: "The user in their current state." })
export class UpdateUserPayload {
  @Field(() => User, { nullable: true, description: "The user. Null if the mutation was refused." })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@ObjectType("SetUserRolePayload", { simpleResolvers: true, description: "The user with their new role." })
export class SetUserRolePayload {
  @Field(() => User, { nullable: true, description: "The user. Null if the mutation was refused." })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@ObjectType("DeactivateUserPayload", {
  simpleResolvers: true,
  description: "The deactivated user.",
})
export class DeactivateUserPayload {
  @Field(() => User, { nullable: true, description: "The user. Null if the mutation was refused." })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@ObjectType("ReactivateUserPayload", {
  simpleResolvers: true,
  description: "The reactivated user.",
})
export class ReactivateUserPayload {
  @Field(() => User, { nullable: true, description: "The user. Null if the mutation was refused." })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}
