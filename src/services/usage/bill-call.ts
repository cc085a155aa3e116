/**
 * Keeps what a model call used that left no message of its own: a title, an attempt that failed, an answer that was
 * stopped before its first word. Vendors charge for all of them.
 */
import type { TokenUsage } from "../../domain/chats/message-parts.js";
import { costMicros } from "../../domain/usage/money.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Queryable } from "../../store/common/database.js";
import type { ModelConfigRecord } from "../../store/models/models.js";
import { insertUsageRow } from "../../store/usage/usage-rows.js";

export type BilledCall = {
  chatId: string;
  config: Pick<ModelConfigRecord, "id" | "pricing">;
  /** The last that the vendor told of; null = nothing, then nothing is kept. */
  usage: TokenUsage | null;
  /** Wall time in milliseconds; null when it is part of another message's. */
  runtimeMs: number | null;
};

/** Never rejects: what cannot be kept is logged, and costs nobody their turn. */
export async function billCall(
  { database, clock, log }: { database: Queryable; clock: Clock; log: Log },
  { chatId, config, usage, runtimeMs }: BilledCall,
): Promise<void> {
  if (usage === null) return;
  const cost = costMicros(usage, config.pricing);
  const row = { chatId, modelConfigId: config.id, usage, costMicros: cost, runtimeMs };
  try {
    await insertUsageRow(database, { ...row, now: clock.now() });
  } catch (error) {
    log.error(
      { err: error, ...row, costMicros: cost?.toString() },
      "What a model call used could not be kept",
    );
  }
}
