/** A queued message; the order of the queue is the chat's `queued_ids`. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import type { MessagePart, ReasoningEffort } from "../../domain/chats/message-parts.js";
import { timestampAsMs } from "../common/entity-columns.js";
import { ChatEntity } from "./chat.entity.js";
import { ModelConfigEntity } from "../models/model-config.entity.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("chat_queued_messages")
@Index("chat_queued_messages_chat_idx", ["chatId"])
export class ChatQueuedMessageEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "chat_queued_messages_pkey" })
  id!: string;

  @Column("uuid", { name: "chat_id" })
  @ForeignKey(() => ChatEntity, { name: "chat_queued_messages_chat_fkey", onDelete: "CASCADE" })
  chatId!: string;

  @Column("uuid", { name: "author_id" })
  @ForeignKey(() => UserEntity, { name: "chat_queued_messages_author_fkey", onDelete: "CASCADE" })
  authorId!: string;

  @Column("uuid", { name: "model_config_id", nullable: true })
  @ForeignKey(() => ModelConfigEntity, {
    name: "chat_queued_messages_model_config_fkey",
    onDelete: "SET NULL",
  })
  modelConfigId!: string | null;

  @Column("text", { name: "reasoning_effort", nullable: true })
  reasoningEffort!: ReasoningEffort | null;

  /** The MCP servers that the chat selects with this message; null = the chat's selection stays. */
  @Column("uuid", { name: "mcp_server_ids", array: true, nullable: true })
  mcpServerIds!: string[] | null;

  @Column("smallint", { name: "content_version" })
  contentVersion!: number;

  @Column("jsonb", { name: "content" })
  content!: MessagePart[];

  /** What lists and events carry of a long message; null = `content` itself. */
  @Column("jsonb", { name: "preview", nullable: true })
  preview!: MessagePart[] | null;

  /** Milliseconds since the epoch. */
  @Column("timestamptz", { name: "created_at", default: () => "now()", transformer: timestampAsMs })
  createdAt!: number;
}
