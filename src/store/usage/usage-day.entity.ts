/**
 * Daily sums of the ledger (`ModelCallEntity`): one row per day (UTC), chat and model. Written only by triggers on
 * `model_calls`, in the transaction that enters the call.
 */
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import { ChatEntity } from "../chats/chat.entity.js";

@Entity("usage_days")
@Index("usage_days_root_idx", ["rootChatId"])
@Index("usage_days_chat_idx", ["chatId"])
@Index("usage_days_day_idx", ["day"])
export class UsageDayEntity {
  @PrimaryColumn("uuid", { name: "owner_id", primaryKeyConstraintName: "usage_days_pkey" })
  ownerId!: string;

  @PrimaryColumn("date", { name: "day", primaryKeyConstraintName: "usage_days_pkey" })
  day!: string;

  @PrimaryColumn("uuid", { name: "chat_id", primaryKeyConstraintName: "usage_days_pkey" })
  @ForeignKey(() => ChatEntity, { name: "usage_days_chat_fkey", onDelete: "CASCADE" })
  chatId!: string;

  @PrimaryColumn("uuid", { name: "model_config_id", primaryKeyConstraintName: "usage_days_pkey" })
  modelConfigId!: string;

  /** The chat that stands for its whole family; without one, the chat itself. */
  @Column("uuid", { name: "root_chat_id" })
  rootChatId!: string;

  @Column("bigint", { name: "message_count" })
  messageCount!: string;

  /** Those with a cost, 0 included. */
  @Column("bigint", { name: "priced_message_count" })
  pricedMessageCount!: string;

  /** Those that used tokens and have no cost. */
  @Column("bigint", { name: "unpriced_message_count" })
  unpricedMessageCount!: string;

  @Column("bigint", { name: "cost_micros" })
  costMicros!: string;

  @Column("bigint", { name: "input_tokens" })
  inputTokens!: string;

  @Column("bigint", { name: "output_tokens" })
  outputTokens!: string;

  @Column("bigint", { name: "cache_read_tokens" })
  cacheReadTokens!: string;

  @Column("bigint", { name: "cache_write_tokens" })
  cacheWriteTokens!: string;

  @Column("bigint", { name: "runtime_ms" })
  runtimeMs!: string;
}
