/** Admission of a model call: checks the chat owner's storage and usage limits, and reserves the call's cost. */
import { maxCost } from "../../domain/usage/usage-limits.js";
import type { ChatRun } from "./chat-run.js";
import type { PreparedCall } from "./turn-model-context.js";

/**
 * Does the work, which makes the call and commits its outcome, within a reservation. Null when the call may not be
 * made: either a limit has failed the turn, which keeps everything so far, or the run was stopped while it waited.
 */
export async function withBudget<T>(
  run: ChatRun,
  call: PreparedCall,
  work: () => Promise<T>,
): Promise<T | null> {
  const { dependencies, chat, state } = run;
  const { limits, log } = dependencies;
  const storageFailure = await limits.storage.whyNoTurn(chat.ownerId);
  if (storageFailure !== null) {
    log.info({ chatId: chat.chatId, failure: storageFailure }, "turn ended by a storage limit");
    await run.fail(storageFailure);
    return null;
  }
  const reservation = {
    ownerId: chat.ownerId,
    workerId: state.workerId,
    maxCost: () => maxCost(call.greatestUse(), call.model.config.pricing),
    site: "step" as const,
    waits: true,
  };
  const admission = await limits.usage.admit(reservation, run.abort.signal);
  switch (admission.type) {
    case "stopped":
      return null;
    case "refused":
      log.info({ chatId: chat.chatId, failure: admission.failure }, "turn ended by a usage limit");
      await run.fail(admission.failure);
      return null;
    case "admitted":
      try {
        return await work();
      } finally {
        await admission.release();
      }
  }
}
