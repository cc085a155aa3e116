/** Spending limits. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { LimitPeriod, LimitSource } from "../../domain/usage/usage-limits.js";
import { connectionType } from "../common/connection.js";
import { describeEnum } from "../common/enums.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { MicrosScalar } from "../scalars/micros.js";
import { UserError } from "../common/user-error.interface.js";
import { User } from "../users/user.type.js";

export const LimitPeriodEnum = describeEnum<LimitPeriod>(
  "LimitPeriod",
  "The period after which a spending limit resets, in UTC. New values may be added: rely on `periodEnd`.",
  {
    day: "Resets every day at midnight.",
    week: "Resets on Mondays at midnight.",
    month: "Resets on the first day of each month.",
  },
);

export const LimitSourceEnum = describeEnum<LimitSource>("LimitSource", "Where a user's limit comes from.", {
  none: "The user has no limit.",
  deployment: "The deployment's default.",
  user: "The user's own limit, set by an admin.",
});

@ObjectType("UsageLimitStatus", {
  simpleResolvers: true,
  description: "A user's spending limit and what they have spent so far.",
})
export class UsageLimitStatus {
  @Field(() => LimitSourceEnum, { description: "Where the limit comes from." })
  source!: LimitSource;

  @Field(() => LimitPeriodEnum, { description: "The period after which the limit resets." })
  period!: LimitPeriod;

  @Field(() => MicrosScalar, {
    nullable: true,
    description: "The limit per period. Null for no limit.",
  })
  limitMicros!: bigint | null;

  @Field(() => MicrosScalar, {
    description: "The amount spent in this period by calls with a known cost.",
  })
  spentMicros!: bigint;

  @Field(() => MicrosScalar, {
    nullable: true,
    description: "The amount left in this period, never below 0. Null for no limit.",
  })
  remainingMicros!: bigint | null;

  @Field(() => DateTimeScalar, { description: "When the current period started." })
  periodStart!: Date;

  @Field(() => DateTimeScalar, { description: "When the next period starts." })
  periodEnd!: Date;
}

@ObjectType("UsageLimitPolicy", {
  simpleResolvers: true,
  description: "The deployment's spending limits.",
})
export class UsageLimitPolicy {
  @Field(() => Boolean, {
    description: "Whether spending limits are enforced. If false, no user has a limit.",
  })
  isEnabled!: boolean;

  @Field(() => LimitPeriodEnum, { description: "The period after which limits reset." })
  period!: LimitPeriod;

  @Field(() => MicrosScalar, {
    nullable: true,
    description:
      "The limit per period for users without a limit of their own. Null for no limit; 0 means that they may spend nothing.",
  })
  defaultLimitMicros!: bigint | null;
}

@ObjectType("UsageLimitOverride", {
  simpleResolvers: true,
  description: "A user's own spending limit, which overrides the deployment's default.",
})
export class UsageLimitOverride {
  /** Database ID. */
  userId!: string;

  @Field(() => MicrosScalar, {
    description: "The limit per period. 0 means that the user may spend nothing.",
  })
  limitMicros!: bigint;

  @Field(() => DateTimeScalar, { description: "When the limit was set." })
  updatedAt!: Date;
}

export const UsageLimitOverrideConnection = connectionType(UsageLimitOverride, "UsageLimitOverride");

const WHY = "Why the mutation was refused. Empty on success.";

@InputType("UpdateUsageLimitPolicyInput", {
  description: "Input of `updateUsageLimitPolicy`. Fields that are absent do not change.",
})
export class UpdateUsageLimitPolicyInput {
  @Field(() => Boolean, { nullable: true, description: "Whether spending limits are enforced." })
  isEnabled?: boolean | null;

  @Field(() => LimitPeriodEnum, {
    nullable: true,
    description:
      "The period after which limits reset. Spending since the start of the new period counts, even if it was before the change.",
  })
  period?: LimitPeriod | null;

  @Field(() => MicrosScalar, {
    nullable: true,
    description: "The limit per period for users without a limit of their own, 0 or more. Null for no limit.",
  })
  defaultLimitMicros?: bigint | null;
}

@ObjectType("UpdateUsageLimitPolicyPayload", {
  simpleResolvers: true,
  description: "The limits in their current state.",
})
export class UpdateUsageLimitPolicyPayload {
  @Field(() => UsageLimitPolicy, {
    nullable: true,
    description: "The policy. Null if the mutation was refused.",
  })
  policy!: UsageLimitPolicy | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@InputType("SetUserUsageLimitInput", { description: "Input of `setUserUsageLimit`." })
export class SetUserUsageLimitInput {
  @Field(() => ID, { description: "The user." })
  userId!: string;

  @Field(() => MicrosScalar, { description: "The limit per period, 0 or more." })
  limitMicros!: bigint;
}

@ObjectType("SetUserUsageLimitPayload", { simpleResolvers: true, description: "The user's own limit." })
export class SetUserUsageLimitPayload {
  @Field(() => UsageLimitOverride, {
    nullable: true,
    description: "The override. Null if the mutation was refused.",
  })
  override!: UsageLimitOverride | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@InputType("ClearUserUsageLimitInput", { description: "Input of `clearUserUsageLimit`." })
export class ClearUserUsageLimitInput {
  @Field(() => ID, { description: "The user." })
  userId!: string;
}

@ObjectType("ClearUserUsageLimitPayload", {
  simpleResolvers: true,
  description: "The user, for whom the deployment's default applies again.",
})
export class ClearUserUsageLimitPayload {
  @Field(() => User, { nullable: true, description: "The user. Null if the mutation was refused." })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}
