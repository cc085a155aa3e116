/**
 * What model calls used that left no message (titles, attempts that failed): rows of the chat's history that nobody reads, so that what
 * was spent is counted where everything spent is.
 */
import type { TokenUsage } from "../../domain/chats/message-parts.js";
import type { Queryable, Statement } from "../common/database.js";
import { CONTENT_VERSION } from "../chats/rows.js";

// Deleted from the start: no reader of history, events or previews sees it, and it takes no revision of its own.
const INSERT: Statement = {
  name: "usage-row-insert",
  text: `INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, model_config_id, input_tokens,
      output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, cost_micros, runtime_ms,
      is_usage_estimated, revision, is_deleted, created_at)
    SELECT c.id, 'assistant', 'model', ${CONTENT_VERSION}, '[]', $2, $3, $4, $5, $6, $7, $8, $9, $10, c.snapshot_version, true, $11
    FROM chats c WHERE c.id = $1`,
};

export type HiddenUsage = {
  chatId: string;
  modelConfigId: string;
  usage: TokenUsage;
  /** Null = unpriced. */
  costMicros: bigint | null;
  /** Wall time of the call in milliseconds; null when it is part of another message's. */
  runtimeMs: number | null;
  /** Milliseconds since the epoch. */
  now: number;
};

/** Nothing is written when the chat is gone. */
export async function insertUsageRow(queryable: Queryable, row: HiddenUsage): Promise<void> {
  const { usage } = row;
  await queryable.query(INSERT, [
    row.chatId,
    row.modelConfigId,
    usage.inputTokens,
    usage.outputTokens,
    usage.reasoningTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens,
    row.costMicros?.toString() ?? null,
    row.runtimeMs === null ? null : Math.round(row.runtimeMs),
    usage.isEstimated ?? false,
    new Date(row.now),
  ]);
}
