/** Before something paid is begun: whether the limit of whoever pays allows it. */
import type { LimitCheck } from "../../domain/usage/usage-limits.js";
import { LIMIT_UNCHECKED, limitReachedText } from "../../domain/usage/usage-limits.js";
import type { CommandRefusal } from "../chats/chat-commands.js";

/** What commands ask of those who keep limits. */
export interface UsageLimitChecks {
  /** Costs no statement for people without a limit. Never rejects. */
  check(ownerId: string): Promise<LimitCheck>;
}

/** Null when it may begin. `ownerId` is the chat's owner, who pays, whoever speaks. */
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
      const { spentMicros, limitMicros, range } = found.standing;
      const usage = { spentMicros, limitMicros, resetsAt: new Date(range.to) };
      return { code: "LIMIT_EXCEEDED", message: limitReachedText(found.standing), usage };
    }
  }
}
