/** Checks the chat owner's usage limit before starting anything that costs money. */
import type { LimitCheck } from "../../domain/usage/usage-limits.js";
import { LIMIT_UNCHECKED, limitReachedText } from "../../domain/usage/usage-limits.js";
import type { CommandRefusal } from "../common/command-result.js";

/** The usage limit service, as commands use it. */
export interface UsageLimitChecks {
  /** Executes no statement for users without a limit. Never rejects. */
  check(ownerId: string): Promise<LimitCheck>;
}

/** Null when allowed. `ownerId` is the chat's owner, who pays also for messages of admins. */
export async function checkUsageLimit(
  { usageLimits }: { usageLimits: UsageLimitChecks },
  ownerId: string,
): Promise<CommandRefusal | null> {
  const found = await usageLimits.check(ownerId);
  switch (found.outcome) {
    case "allowed":
      return null;
    case "unchecked":
      return { code: "UNAVAILABLE", message: LIMIT_UNCHECKED.message, what: "usage-limit" };
    case "reached": {
      const { spentMicros, limitMicros, range } = found.status;
      const usage = { spentMicros, limitMicros, resetsAt: new Date(range.to) };
      return { code: "LIMIT_EXCEEDED", message: limitReachedText(found.status), usage };
    }
  }
}
