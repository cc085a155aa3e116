/** Admin commands on usage limits: the policy for all users and limits of single users. */
import { auditChanges } from "../../domain/users/audit.js";
import { encodeId } from "../../domain/common/ids.js";
import type { LimitPeriod, LimitStatus, UsageLimitPolicy } from "../../domain/usage/usage-limits.js";
import type { Actor } from "../../domain/users/viewer.js";
import type { Queryable } from "../../store/common/database.js";
import {
  clearUsageLimitOverride,
  lockUsageLimitOverride,
  lockUsageLimitPolicy,
  setUsageLimitOverride,
  setUsageLimitPolicy,
  type UsageLimitOverrideRecord,
} from "../../store/usage/usage-limits.js";
import { findUsersByIds, type UserRecord } from "../../store/users/users.js";
import { asAdmin } from "../users/admin.js";
import type { CommandResult } from "../common/command-result.js";
import { notFound, refuse } from "../common/command-dependencies.js";
import type { UsageLimitDependencies } from "./usage-limit-dependencies.js";

/** Absent = unchanged. */
export type UpdateUsageLimitPolicyInput = {
  isEnabled?: boolean;
  period?: LimitPeriod;
  /** Microdollars; null = no limit for users without one of their own. */
  defaultLimitMicros?: bigint | null;
};

/** The user's spend against their limit, now. The caller checks that the viewer may see it. */
export function status(dependencies: UsageLimitDependencies, userId: string): Promise<LimitStatus> {
  return dependencies.status(userId);
}

export async function updatePolicy(
  dependencies: UsageLimitDependencies,
  actor: Actor,
  input: UpdateUsageLimitPolicyInput,
): Promise<CommandResult<{ policy: UsageLimitPolicy }>> {
  const result = await asAdmin(dependencies, actor, async (transaction) => {
    const { defaultLimitMicros } = input;
    if (defaultLimitMicros != null && defaultLimitMicros < 0n) return negative("defaultLimitMicros");
    const before = await lockUsageLimitPolicy(transaction);
    const policy = {
      isEnabled: input.isEnabled ?? before.isEnabled,
      period: input.period ?? before.period,
      defaultLimitMicros: defaultLimitMicros === undefined ? before.defaultLimitMicros : defaultLimitMicros,
    };
    const changes = auditChanges(shownPolicy(before), shownPolicy(policy));
    if (Object.keys(changes).length === 0) return { ok: true, result: { policy }, audit: null };
    await setUsageLimitPolicy(transaction, policy);
    const audit = {
      action: "usage_limit_policy_updated" as const,
      targetId: null,
      targetName: null,
      changes,
    };
    return { ok: true, result: { policy }, audit };
  });
  if (result.ok) dependencies.announceLimits();
  return result;
}

/** Replaces the user's own limit. */
export async function setUserLimit(
  dependencies: UsageLimitDependencies,
  actor: Actor,
  { userId, limitMicros }: { userId: string; limitMicros: bigint },
): Promise<CommandResult<{ override: UsageLimitOverrideRecord }>> {
  const result = await asAdmin(dependencies, actor, async (transaction) => {
    if (limitMicros < 0n) return negative("limitMicros");
    const user = await findUser(transaction, userId);
    if (!user) return notFound("user", "userId");
    const before = await lockUsageLimitOverride(transaction, userId);
    if (before?.limitMicros === limitMicros) return { ok: true, result: { override: before }, audit: null };
    const override = await setUsageLimitOverride(transaction, userId, limitMicros);
    return { ok: true, result: { override }, audit: auditOf("user_usage_limit_set", user, before, override) };
  });
  if (result.ok) dependencies.announceLimits();
  return result;
}

/** Removes the user's own limit; succeeds when there is none. */
export async function clearUserLimit(
  dependencies: UsageLimitDependencies,
  actor: Actor,
  userId: string,
): Promise<CommandResult<{ user: UserRecord }>> {
  const result = await asAdmin(dependencies, actor, async (transaction) => {
    const user = await findUser(transaction, userId);
    if (!user) return notFound("user", "userId");
    const before = await lockUsageLimitOverride(transaction, userId);
    if (before === null) return { ok: true, result: { user }, audit: null };
    await clearUsageLimitOverride(transaction, userId);
    return { ok: true, result: { user }, audit: auditOf("user_usage_limit_cleared", user, before, null) };
  });
  if (result.ok) dependencies.announceLimits();
  return result;
}

async function findUser(transaction: Queryable, userId: string): Promise<UserRecord | null> {
  return (await findUsersByIds(transaction, [userId]))[0] ?? null;
}

function negative(field: string) {
  return refuse({ code: "INVALID", message: "A limit is 0 or more.", path: [field] });
}

/** The audit log stores JSON, which has no 64-bit integers. */
function shownPolicy({ isEnabled, period, defaultLimitMicros }: UsageLimitPolicy) {
  return { isEnabled, period, defaultLimitMicros: defaultLimitMicros?.toString() ?? null };
}

type Override = UsageLimitOverrideRecord | null;

function auditOf(
  action: "user_usage_limit_set" | "user_usage_limit_cleared",
  { id, username }: UserRecord,
  before: Override,
  after: Override,
) {
  const shown = (override: Override) => override && { limitMicros: override.limitMicros.toString() };
  const changes = auditChanges(shown(before), shown(after));
  return { action, targetId: encodeId("user", id), targetName: username, changes };
}
