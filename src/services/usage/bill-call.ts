/**
 * Bills a model call that left no message: a title, a failed attempt, an answer that was stopped before its first word.
 * Vendors charge for all of them.
 */
import type { TokenUsage } from "../../domain/chats/message-parts.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import { costMicros } from "../../domain/usage/money.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Queryable } from "../../store/common/database.js";
import type { ModelConfigRecord } from "../../store/models/models.js";
import { insertModelCall } from "../../store/usage/model-calls.js";

export type BilledCall = {
  chatId: string;
  config: Pick<ModelConfigRecord, "id" | "pricing">;
  purpose: ModelCallPurpose;
  /** The last that the vendor reported, or an estimate; null = nothing, then nothing is billed. */
  usage: TokenUsage | null;
  /** Wall time in milliseconds; null when it is part of a message's. */
  runtimeMs: number | null;
};

/** Never rejects: a failure to write is logged, and does not end the turn. */
export async function billCall(
  { database, clock, log }: { database: Queryable; clock: Clock; log: Log },
  { chatId, config, purpose, usage, runtimeMs }: BilledCall,
): Promise<void> {
  if (usage === null) return;
  const cost = costMicros(usage, config.pricing);
  const call = { chatId, modelConfigId: config.id, purpose, usage, costMicros: cost, runtimeMs };
  try {
    await insertModelCall(database, { ...call, now: clock.now() });
  } catch (error) {
    log.error({ err: error, ...call, costMicros: cost?.toString() }, "model call could not be billed");
  }
}
