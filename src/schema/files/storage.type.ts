/** What users store, and may store. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { LimitSource } from "../../domain/usage/usage-limits.js";
import { BigIntScalar } from "../scalars/big-int.js";
import { LimitSourceEnum } from "../usage/usage-limit.type.js";
import { UserError } from "../common/user-error.interface.js";
import { User } from "../users/user.type.js";

@ObjectType("UserStorage", {
  simpleResolvers: true,
  description: "What a user stores, and may store: messages, queued messages and files of their chats.",
})
export class UserStorage {
  @Field(() => BigIntScalar, {
    description:
      "Bytes in use. Messages count as long as they exist, edited ones too; files count from their announcement on.",
  })
  usedBytes!: bigint;

  @Field(() => BigIntScalar, { nullable: true, description: "Bytes that may be in use; null = no limit." })
  limitBytes!: bigint | null;

  @Field(() => LimitSourceEnum, { description: "Whose limit it is." })
  source!: LimitSource;
}

const REFUSED = "Null when it was refused.";
const WHY = "Why nothing was done; empty on success.";

@InputType("SetUserStorageLimitInput", { description: "What one user may store from now on." })
export class SetUserStorageLimitInput {
  @Field(() => ID, { description: "Who." })
  userId!: string;

  @Field(() => BigIntScalar, {
    nullable: true,
    description: "Bytes, 0 or more; null = no limit. Must be given.",
  })
  limitBytes?: bigint | null;
}

@ObjectType("SetUserStorageLimitPayload", { simpleResolvers: true, description: "The user with the limit." })
export class SetUserStorageLimitPayload {
  @Field(() => User, { nullable: true, description: REFUSED })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@InputType("ClearUserStorageLimitInput", { description: "Who has no limit of their own any more." })
export class ClearUserStorageLimitInput {
  @Field(() => ID, { description: "Who." })
  userId!: string;
}

@ObjectType("ClearUserStorageLimitPayload", {
  simpleResolvers: true,
  description: "The user for whom the deployment's default counts.",
})
export class ClearUserStorageLimitPayload {
  @Field(() => User, { nullable: true, description: REFUSED })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}
