/** Users' storage and storage limits. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { LimitSource } from "../../domain/usage/usage-limits.js";
import { BigIntScalar } from "../scalars/big-int.js";
import { LimitSourceEnum } from "../usage/usage-limit.type.js";
import { UserError } from "../common/user-error.interface.js";
import { User } from "../users/user.type.js";

@ObjectType("UserStorage", {
  simpleResolvers: true,
  description: "Storage used by a user's messages, queued messages and files, and its limit.",
})
export class UserStorage {
  @Field(() => BigIntScalar, {
    description:
      "Storage in use in bytes. Messages count as long as they exist, including edited ones; files count as soon as they are announced.",
  })
  usedBytes!: bigint;

  @Field(() => BigIntScalar, { nullable: true, description: "The limit in bytes. Null for no limit." })
  limitBytes!: bigint | null;

  @Field(() => LimitSourceEnum, { description: "Where the limit comes from." })
  source!: LimitSource;
}

const WHY = "Why the mutation was refused. Empty on success.";

@InputType("SetUserStorageLimitInput", { description: "Input of `setUserStorageLimit`." })
export class SetUserStorageLimitInput {
  @Field(() => ID, { description: "The user." })
  userId!: string;

  @Field(() => BigIntScalar, {
    nullable: true,
    description: "The limit in bytes, 0 or more. Null for no limit. Required.",
  })
  limitBytes?: bigint | null;
}

@ObjectType("SetUserStorageLimitPayload", {
  simpleResolvers: true,
  description: "The user with their new limit.",
})
export class SetUserStorageLimitPayload {
  @Field(() => User, { nullable: true, description: "The user. Null if the mutation was refused." })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@InputType("ClearUserStorageLimitInput", { description: "Input of `clearUserStorageLimit`." })
export class ClearUserStorageLimitInput {
  @Field(() => ID, { description: "The user." })
  userId!: string;
}

@ObjectType("ClearUserStorageLimitPayload", {
  simpleResolvers: true,
  description: "The user, for whom the deployment's default applies again.",
})
export class ClearUserStorageLimitPayload {
  @Field(() => User, { nullable: true, description: "The user. Null if the mutation was refused." })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}
