/** What may be asked about what people may spend. All ids are database values, not public ids. */
import type { LimitPeriod, LimitStanding, UsageLimitPolicy } from "../../domain/usage/usage-limits.js";
import type { Actor } from "../../domain/users/viewer.js";
import type { Database } from "../../store/common/database.js";
import type { UsageLimitOverrideRecord } from "../../store/usage/usage-limits.js";
import type { UserRecord } from "../../store/users/users.js";
import type { CommandResult } from "../chats/chat-commands.js";

export type UsageLimitDependencies = {
  database: Database;
  /** Tells every replica that somebody may spend more or less than before. After the commit; never throws. */
  announceLimits(): void;
  /** How the person stands now. */
  standing(userId: string): Promise<LimitStanding>;
};

/** Absent = unchanged. */
export type UpdateUsageLimitPolicyInput = {
  isEnabled?: boolean;
  period?: LimitPeriod;
  /** Microdollars; null = no limit for those without one of their own. */
  defaultLimitMicros?: bigint | null;
};

/** Changes are admins' alone; anybody else gets `Forbidden`. They count at once, for turns that run too. */
export interface UsageLimitCommands {
  /** How the person stands now; whether the viewer may know is the caller's to judge. */
  standing(userId: string): Promise<LimitStanding>;
  updatePolicy(
    actor: Actor,
    input: UpdateUsageLimitPolicyInput,
  ): Promise<CommandResult<{ policy: UsageLimitPolicy }>>;
  /** Replaces an earlier limit of the person's own. */
  setUserLimit(
    actor: Actor,
    input: { userId: string; limitMicros: bigint },
  ): Promise<CommandResult<{ override: UsageLimitOverrideRecord }>>;
  /** Also when they have none. */
  clearUserLimit(actor: Actor, userId: string): Promise<CommandResult<{ user: UserRecord }>>;
}
