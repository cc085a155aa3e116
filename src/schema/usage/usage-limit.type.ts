/** What people may spend. */
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
  "How long a limit counts before what was spent begins anew. In UTC. May grow: go by `periodEnd`.",
  {
    day: "From midnight to midnight.",
    week: "From Monday's midnight on.",
    month: "From the first of the month on.",
  },
);

export const LimitSourceEnum = describeEnum<LimitSource>("LimitSource", "Whose limit counts for a person.", {
  none: "Nobody's: they have no limit.",
  deployment: "The one for everybody.",
  user: "Their own, which an admin has set.",
});

@ObjectType("UsageLimitStatus", {
  simpleResolvers: true,
  description: "What a person may spend, and what they have spent of it.",
})
export class UsageLimitStatus {
  @Field(() => LimitSourceEnum, { description: "Whose limit it is." })
  source!: LimitSource;

  @Field(() => LimitPeriodEnum, { description: "How long it counts." })
  period!: LimitPeriod;

  @Field(() => MicrosScalar, {
    nullable: true,
    description: "What they may spend in a period; null = no limit.",
  })
  limitMicros!: bigint | null;

  @Field(() => MicrosScalar, {
    description: "What they have spent in this period, by calls whose cost is known.",
  })
  spentMicros!: bigint;

  @Field(() => MicrosScalar, {
    nullable: true,
    description: "What is left of it, never below 0; null = no limit.",
  })
  remainingMicros!: bigint | null;

  @Field(() => DateTimeScalar, { description: "When this period began." })
  periodStart!: Date;

  @Field(() => DateTimeScalar, { description: "When the next one begins, with nothing spent." })
  periodEnd!: Date;
}

@ObjectType("UsageLimitPolicy", {
  simpleResolvers: true,
  description: "What people may spend in this deployment.",
})
export class UsageLimitPolicy {
  @Field(() => Boolean, { description: "False = nobody has a limit, whatever else is set." })
  isEnabled!: boolean;

  @Field(() => LimitPeriodEnum, { description: "How long limits count." })
  period!: LimitPeriod;

  @Field(() => MicrosScalar, {
    nullable: true,
    description: "For everybody without a limit of their own; null = none, 0 = they may spend nothing.",
  })
  defaultLimitMicros!: bigint | null;
}

@ObjectType("UsageLimitOverride", {
  simpleResolvers: true,
  description: "What one person may spend, instead of what everybody may.",
})
export class UsageLimitOverride {
  /** The database's id. */
  userId!: string;

  @Field(() => MicrosScalar, { description: "What they may spend in a period; 0 = nothing." })
  limitMicros!: bigint;

  @Field(() => DateTimeScalar, { description: "When it was set." })
  updatedAt!: Date;
}

export const UsageLimitOverrideConnection = connectionType(UsageLimitOverride, "UsageLimitOverride");

const REFUSED = "Null when it was refused.";
const WHY = "Why nothing was done; empty on success.";

@InputType("UpdateUsageLimitPolicyInput", {
  description: "Changes of what everybody may spend. What is absent stays as it is.",
})
export class UpdateUsageLimitPolicyInput {
  @Field(() => Boolean, { nullable: true, description: "Whether there are limits at all." })
  isEnabled?: boolean | null;

  @Field(() => LimitPeriodEnum, {
    nullable: true,
    description: "How long limits count; what was spent in the new period before the change counts too.",
  })
  period?: LimitPeriod | null;

  @Field(() => MicrosScalar, {
    nullable: true,
    description: "0 or more, for everybody without a limit of their own; null = none.",
  })
  defaultLimitMicros?: bigint | null;
}

@ObjectType("UpdateUsageLimitPolicyPayload", {
  simpleResolvers: true,
  description: "The limits as they are now.",
})
export class UpdateUsageLimitPolicyPayload {
  @Field(() => UsageLimitPolicy, { nullable: true, description: REFUSED })
  policy!: UsageLimitPolicy | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@InputType("SetUserUsageLimitInput", { description: "What one person may spend from now on." })
export class SetUserUsageLimitInput {
  @Field(() => ID, { description: "Who." })
  userId!: string;

  @Field(() => MicrosScalar, { description: "0 or more, in a period of the policy." })
  limitMicros!: bigint;
}

@ObjectType("SetUserUsageLimitPayload", { simpleResolvers: true, description: "The person's own limit." })
export class SetUserUsageLimitPayload {
  @Field(() => UsageLimitOverride, { nullable: true, description: REFUSED })
  override!: UsageLimitOverride | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}

@InputType("ClearUserUsageLimitInput", { description: "Who has no limit of their own any more." })
export class ClearUserUsageLimitInput {
  @Field(() => ID, { description: "Who." })
  userId!: string;
}

@ObjectType("ClearUserUsageLimitPayload", {
  simpleResolvers: true,
  description: "The person for whom everybody's limit counts.",
})
export class ClearUserUsageLimitPayload {
  @Field(() => User, { nullable: true, description: REFUSED })
  user!: User | null;

  @Field(() => [UserError], { description: WHY })
  userErrors!: UserError[];
}
