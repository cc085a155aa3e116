/** What admins ask of people's accounts. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { UserRole } from "../../domain/users/viewer.js";
import { connectionType } from "../common/connection.js";
import { UserRoleEnum } from "../common/enums.js";
import { UserError } from "../common/user-error.interface.js";
import { User } from "./user.type.js";

export const UserConnection = connectionType(User, "User");

const REFUSED = "Null when it was refused.";
const WHY = "Why nothing was done; empty on success.";

@InputType("CreateUserInput", { description: "A new person." })
export class CreateUserInput {
  @Field(() => String, {
    description: "1 to 64 lower-case letters, digits and `. _ @ + -`, a letter or a digit first; unique.",
  })
  username!: string;

  @Field(() => String, { nullable: true, description: "1 to 200 characters; absent = the username." })
  name?: string | null;

  @Field(() => UserRoleEnum, { defaultValue: "member", description: "What they may do here." })
  role!: UserRole;
}

@ObjectType("CreateUserPayload", { simpleResolvers: true, description: "The new person." })
export class CreateUserPayload {
  @Field(() => User, { nullable: true, description: REFUSED })
  user!: User | null;

  @Field(() => String, {
    nullable: true,
    description: "Their first API token, which may do all that they may. Shown now and never again.",
  })
  secret!: string | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@InputType("UpdateUserInput", { description: "What somebody is called from now on." })
export class UpdateUserInput {
  @Field(() => ID, { description: "Who." })
  userId!: string;

  @Field(() => String, { description: "1 to 200 characters." })
  name!: string;
}

@InputType("SetUserRoleInput", { description: "What somebody may do from now on." })
export class SetUserRoleInput {
  @Field(() => ID, { description: "Who." })
  userId!: string;

  @Field(() => UserRoleEnum, { description: "Their role; sign-ins may set it anew, if claims decide it." })
  role!: UserRole;
}

@InputType("DeactivateUserInput", { description: "Who may not come in any more." })
export class DeactivateUserInput {
  @Field(() => ID, { description: "Who." })
  userId!: string;
}

@InputType("ReactivateUserInput", { description: "Who may come in again." })
export class ReactivateUserInput {
  @Field(() => ID, { description: "Who." })
  userId!: string;
}

@ObjectType("UpdateUserPayload", { simpleResolvers: true, description: "The person as they are called now." })
export class UpdateUserPayload {
  @Field(() => User, { nullable: true, description: REFUSED })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@ObjectType("SetUserRolePayload", { simpleResolvers: true, description: "The person with their role." })
export class SetUserRolePayload {
  @Field(() => User, { nullable: true, description: REFUSED })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@ObjectType("DeactivateUserPayload", {
  simpleResolvers: true,
  description: "The person who was deactivated.",
})
export class DeactivateUserPayload {
  @Field(() => User, { nullable: true, description: REFUSED })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@ObjectType("ReactivateUserPayload", {
  simpleResolvers: true,
  description: "The person who may come in again.",
})
export class ReactivateUserPayload {
  @Field(() => User, { nullable: true, description: REFUSED })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}
