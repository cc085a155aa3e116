/** Between a prepared model call and the call itself: whether the chat's owner may still spend that and store more. */
import { greatestCost } from "../../domain/usage/usage-limits.js";
import type { ChatRun } from "./chat-run.js";
import type { PreparedCall } from "./turn-context.js";

/**
 * Does the work that makes the call and commits what came of it. Null when the call may not be made: then the turn has
 * failed, with everything so far kept, or whoever runs it was stopped while it waited and decides anew.
 */
export async function withBudget<T>(
  hold: ChatRun,
  call: PreparedCall,
  work: () => Promise<T>,
): Promise<T | null> {
  const { parts, chat, state } = hold;
  const unstorable = await parts.storage.whyNoTurn(chat.ownerId);
  if (unstorable !== null) {
    parts.log.info({ chatId: chat.chatId, failure: unstorable }, "A storage limit ended a turn");
    await hold.fail(unstorable);
    return null;
  }
  const paid = {
    ownerId: chat.ownerId,
    workerId: state.workerId,
    greatestCost: () => greatestCost(call.greatestUse(), call.model.config.pricing),
    place: "step" as const,
    waits: true,
  };
  const admission = await parts.usageLimits.admit(paid, hold.switch.signal);
  switch (admission.type) {
    case "stopped":
      return null;
    case "refused":
      parts.log.info({ chatId: chat.chatId, failure: admission.failure }, "A usage limit ended a turn");
      await hold.fail(admission.failure);
      return null;
    case "admitted":
      try {
        return await work();
      } finally {
        await admission.release();
      }
  }
}
