/**
 * A message in a chat's history. Rows are never removed, only marked as deleted. Of a model's message the usage is a copy:
 * the ledger (`ModelCallEntity`) is what sums are made of.
 */
import { Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from "typeorm";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import {
  MESSAGE_ROLES,
  MESSAGE_VISIBILITIES,
  type MessagePart,
  type MessageRole,
  type MessageVisibility,
  type ReasoningEffort,
} from "../../domain/chats/message-parts.js";
import { int8AsNumber, timestampAsMs } from "../common/entity-columns.js";
import { ModelUsageColumns } from "../usage/model-usage-columns.js";
import { ChatEntity } from "./chat.entity.js";

@Entity("chat_messages")
@Index("chat_messages_history_idx", ["chatId", "id"], { where: "NOT is_deleted" })
@Index("chat_messages_revision_idx", ["chatId", "revision"])
export class ChatMessageEntity extends ModelUsageColumns {
  @PrimaryGeneratedColumn("identity", {
    name: "id",
    type: "bigint",
    generatedIdentity: "ALWAYS",
    primaryKeyConstraintName: "chat_messages_pkey",
  })
  id!: string;

  @Column("uuid", { name: "chat_id" })
  @ForeignKey(() => ChatEntity, { name: "chat_messages_chat_fkey", onDelete: "CASCADE" })
  chatId!: string;

  @Column("enum", { name: "role", enum: [...MESSAGE_ROLES], enumName: "message_role" })
  role!: MessageRole;

  @Column("enum", { name: "visibility", enum: [...MESSAGE_VISIBILITIES], enumName: "message_visibility" })
  visibility!: MessageVisibility;

  /** The form of `content`; see `toParts`. */
  @Column("smallint", { name: "content_version" })
  contentVersion!: number;

  /** As written by `toJsonb`. */
  @Column("jsonb", { name: "content" })
  content!: MessagePart[];

  @Column("uuid", { name: "author_id", nullable: true })
  authorId!: string | null;

  @Column("uuid", { name: "model_config_id", nullable: true })
  modelConfigId!: string | null;

  @Column("text", { name: "reasoning_effort", nullable: true })
  reasoningEffort!: ReasoningEffort | null;

  /** The MCP servers selected when a user's message entered history; null for other messages. */
  @Column("uuid", { name: "mcp_server_ids", array: true, nullable: true })
  mcpServerIds!: string[] | null;

  /** The generation whose deltas became this message. */
  @Column("text", { name: "generation", nullable: true })
  generation!: string | null;

  /** Why the model stopped; null = it was interrupted, no model wrote this, or it is older than this column. */
  @Column("text", { name: "finish_reason", nullable: true })
  finishReason!: FinishReason | null;

  /** The vendor's id of the response that became this message. */
  @Column("text", { name: "provider_response_id", nullable: true })
  responseId!: string | null;

  @Column("boolean", { name: "is_summary", default: false })
  isSummary!: boolean;

  /** The chat's snapshot that last wrote this row. */
  @Column("bigint", { name: "revision", transformer: int8AsNumber })
  revision!: number;

  @Column("boolean", { name: "is_deleted", default: false })
  isDeleted!: boolean;

  /** Milliseconds since the epoch. */
  @Column("timestamptz", { name: "created_at", default: () => "now()", transformer: timestampAsMs })
  createdAt!: number;
}
