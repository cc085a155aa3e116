/** Spending limits: the viewer's status, and administration. */
import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from "type-graphql";
import { type LimitStatus, remainingMicros } from "../../domain/usage/usage-limits.js";
import { demandAdmin } from "../../domain/users/viewer.js";
import { type Connection, ForwardPageArguments } from "../../schema/common/connection.js";
import { ModelConfig } from "../../schema/models/model.type.js";
import {
  ClearUserUsageLimitInput,
  ClearUserUsageLimitPayload,
  SetUserUsageLimitInput,
  SetUserUsageLimitPayload,
  UpdateUsageLimitPolicyInput,
  UpdateUsageLimitPolicyPayload,
  UsageLimitOverride,
  UsageLimitOverrideConnection,
  UsageLimitPolicy,
  UsageLimitStatus,
} from "../../schema/usage/usage-limit.type.js";
import { SignedInViewer, User } from "../../schema/users/user.type.js";
import { listModelConfigs } from "../../store/models/models.js";
import { listUsageLimitOverrides, readUsageLimitPolicy } from "../../store/usage/usage-limits.js";
import { actorOf, type Context } from "../common/context.js";
import { findUser } from "../common/links.js";
import { byUsername, toConnection, toPageRequest } from "../common/page-requests.js";
import { databaseId } from "../common/public-ids.js";
import { toModelConfig } from "../models/model-shape.js";
import { toUser } from "../common/shapes.js";
import { toUserError } from "../common/user-errors.js";

const OVERRIDES = byUsername("usage-limit-overrides");

@Resolver(() => SignedInViewer)
export class UsageLimitResolver {
  @FieldResolver(() => UsageLimitStatus, {
    description: "The viewer's spending limit and what they have spent.",
  })
  async usageLimit(@Ctx() { limits, viewer }: Context): Promise<UsageLimitStatus> {
    return toStatus(await limits.status(viewer.userId));
  }

  @Query(() => UsageLimitPolicy, { description: "The deployment's spending limits. Admins only." })
  usageLimitPolicy(@Ctx() { database, viewer }: Context): Promise<UsageLimitPolicy> {
    demandAdmin(viewer);
    return readUsageLimitPolicy(database);
  }

  @Mutation(() => UpdateUsageLimitPolicyPayload, {
    description:
      "Changes the deployment's spending limits. Takes effect at once, including for running turns. Admins only; recorded in the audit log.",
  })
  async updateUsageLimitPolicy(
    @Arg("input", () => UpdateUsageLimitPolicyInput, { description: "The parameters of the mutation." })
    { isEnabled, period, defaultLimitMicros }: UpdateUsageLimitPolicyInput,
    @Ctx() context: Context,
  ): Promise<UpdateUsageLimitPolicyPayload> {
    const result = await context.limits.updatePolicy(actorOf(context), {
      ...(isEnabled != null && { isEnabled }),
      ...(period != null && { period }),
      ...(defaultLimitMicros !== undefined && { defaultLimitMicros }),
    });
    if (!result.ok) return { policy: null, userErrors: [toUserError(result.refusal)] };
    return { policy: result.policy, userErrors: [] };
  }

  @Mutation(() => SetUserUsageLimitPayload, {
    description:
      "Sets a spending limit for a user, overriding the deployment's default. Takes effect at once. Admins only; recorded in the audit log.",
  })
  async setUserUsageLimit(
    @Arg("input", () => SetUserUsageLimitInput, { description: "The parameters of the mutation." })
    input: SetUserUsageLimitInput,
    @Ctx() context: Context,
  ): Promise<SetUserUsageLimitPayload> {
    const wanted = { userId: databaseId("user", input.userId, "userId"), limitMicros: input.limitMicros };
    const result = await context.limits.setUserLimit(actorOf(context), wanted);
    if (!result.ok) return { override: null, userErrors: [toUserError(result.refusal)] };
    return { override: result.override, userErrors: [] };
  }

  @Mutation(() => ClearUserUsageLimitPayload, {
    description:
      "Removes a user's own spending limit, so that the deployment's default applies again. Admins only; recorded in the audit log.",
  })
  async clearUserUsageLimit(
    @Arg("input", () => ClearUserUsageLimitInput, { description: "The parameters of the mutation." })
    input: ClearUserUsageLimitInput,
    @Ctx() context: Context,
  ): Promise<ClearUserUsageLimitPayload> {
    const userId = databaseId("user", input.userId, "userId");
    const result = await context.limits.clearUserLimit(actorOf(context), userId);
    if (!result.ok) return { user: null, userErrors: [toUserError(result.refusal)] };
    return { user: toUser(result.user), userErrors: [] };
  }
}

@Resolver(() => UsageLimitPolicy)
export class UsageLimitPolicyResolver {
  @FieldResolver(() => [ModelConfig], {
    description: "Enabled models without a price, oldest first. Their cost does not count towards any limit.",
  })
  async unpricedModels(@Ctx() context: Context): Promise<ModelConfig[]> {
    const configs = await listModelConfigs(context.database, { includeDisabled: false });
    return configs.filter(({ pricing }) => pricing === null).map((it) => toModelConfig(it, context));
  }

  @FieldResolver(() => UsageLimitOverrideConnection, {
    description: "Users with a limit of their own, sorted by username. Default page size: 25.",
  })
  async overrides(
    @Args(() => ForwardPageArguments) page: ForwardPageArguments,
    @Ctx() { database }: Context,
  ): Promise<Connection<UsageLimitOverride>> {
    const found = await listUsageLimitOverrides(database, toPageRequest(OVERRIDES, page));
    return toConnection(OVERRIDES, found, (record) => record);
  }
}

@Resolver(() => UsageLimitOverride)
export class UsageLimitOverrideResolver {
  @FieldResolver(() => User, { description: "The user the limit applies to." })
  user(@Root() { userId }: UsageLimitOverride, @Ctx() context: Context): Promise<User> {
    return findUser(context, userId);
  }
}

function toStatus(status: LimitStatus): UsageLimitStatus {
  const { source, period, limitMicros, spentMicros, range } = status;
  return {
    ...{ source, period, limitMicros, spentMicros },
    remainingMicros: remainingMicros(status),
    periodStart: new Date(range.from),
    periodEnd: new Date(range.to),
  };
}
