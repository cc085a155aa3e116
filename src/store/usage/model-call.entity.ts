/**
 * An entry of the usage ledger: one model call and what it cost. Triggers on `chat_messages` enter the calls that became
 * messages. Not to be confused with `ModelCallRecordEntity`, which holds prompts and answers for a few days.
 */
import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from "typeorm";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import { ChatEntity } from "../chats/chat.entity.js";
import { ModelUsageColumns } from "./model-usage-columns.js";

@Entity("model_calls")
@Index("model_calls_message_key", ["messageId"], { unique: true, where: "message_id IS NOT NULL" })
@Index("model_calls_chat_idx", ["chatId", "createdAt"])
@Check("model_calls_purpose_check", "purpose IN ('step', 'compaction', 'title')")
export class ModelCallEntity extends ModelUsageColumns {
  @PrimaryGeneratedColumn("identity", {
    name: "id",
    type: "bigint",
    generatedIdentity: "ALWAYS",
    primaryKeyConstraintName: "model_calls_pkey",
  })
  id!: string;

  @Column("uuid", { name: "chat_id" })
  @ForeignKey(() => ChatEntity, { name: "model_calls_chat_fkey", onDelete: "CASCADE" })
  chatId!: string;

  /** The message that the call became; null = it left none. No foreign key: messages go only with their chat. */
  @Column("bigint", { name: "message_id", nullable: true })
  messageId!: string | null;

  /** The user who pays: the chat's owner. */
  @Column("uuid", { name: "owner_id" })
  ownerId!: string;

  /** No foreign key: what was spent stays when a model is gone. */
  @Column("uuid", { name: "model_config_id" })
  modelConfigId!: string;

  /** Null = a call without a message from before this table. */
  @Column("text", { name: "purpose", nullable: true })
  purpose!: ModelCallPurpose | null;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
