/** Ledger entries of model calls that left no message (titles, attempts that failed). Those of messages are entered by triggers. */
import type { TokenUsage } from "../../domain/chats/message-parts.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import type { Queryable, Statement } from "../common/database.js";

const INSERT: Statement = {
  name: "model-call-insert",
  text: `INSERT INTO model_calls (chat_id, owner_id, model_config_id, purpose, input_tokens, output_tokens,
      reasoning_tokens, cache_read_tokens, cache_write_tokens, is_usage_estimated, cost_micros, runtime_ms, created_at)
    SELECT c.id, c.owner_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM chats c WHERE c.id = $1`,
};

export type CallWithoutMessage = {
  chatId: string;
  modelConfigId: string;
  purpose: ModelCallPurpose;
  usage: TokenUsage;
  /** Null = unpriced. */
  costMicros: bigint | null;
  /** Wall time of the call in milliseconds; null when it is part of a message's. */
  runtimeMs: number | null;
  /** Milliseconds since the epoch. */
  now: number;
};

/** Writes nothing when the chat is gone. */
export async function insertModelCall(queryable: Queryable, call: CallWithoutMessage): Promise<void> {
  const { usage } = call;
  await queryable.query(INSERT, [
    call.chatId,
    call.modelConfigId,
    call.purpose,
    usage.inputTokens,
    usage.outputTokens,
    usage.reasoningTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens,
    usage.isEstimated ?? false,
    call.costMicros?.toString() ?? null,
    call.runtimeMs === null ? null : Math.round(call.runtimeMs),
    new Date(call.now),
  ]);
}
