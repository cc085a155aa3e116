/**
 * A chat: metadata, which users edit freely, and execution state, which only transitions write
 * (src/engine/transitions). Times are in milliseconds since the epoch.
 */
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import {
  CHAT_STATUSES,
  TITLE_SOURCES,
  type ChatStatus,
  type ClientTool,
  type OpenCall,
  type RetryNotice,
  type TitleSource,
} from "../../domain/chats/chat-state.js";
import type { ChatFailure } from "../../domain/common/failures.js";
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import type { SubagentKind } from "../../domain/chats/subagents.js";
import { int8AsNumber, jsonbText, timestampAsMs } from "../common/entity-columns.js";
import { ModelConfigEntity } from "../models/model-config.entity.js";
import { UserEntity } from "../users/user.entity.js";
import { WorkspaceEntity } from "../workspaces/workspace.entity.js";

@Entity("chats")
@Index("chats_owner_updated_idx", ["ownerId", "updatedAt", "id"])
@Index("chats_owner_created_idx", ["ownerId", "createdAt", "id"])
@Index("chats_pending_idx", ["updatedAt", "id"], { where: "status = 'pending'" })
@Index("chats_worker_idx", ["workerId"], { where: "worker_id IS NOT NULL" })
@Index("chats_deadline_idx", ["actionDeadlineAt"], { where: "action_deadline_at IS NOT NULL" })
@Index("chats_parent_idx", ["parentChatId"], { where: "parent_chat_id IS NOT NULL" })
@Index("chats_root_idx", ["rootChatId"], { where: "root_chat_id IS NOT NULL" })
@Check("chats_runner_check", "(runner_id IS NULL) = (worker_id IS NULL)")
@Check("chats_runner_status_check", "(runner_id IS NOT NULL) = (status IN ('running', 'interrupting'))")
@Check("chats_deadline_check", "action_deadline_at IS NULL OR status = 'requires_action'")
@Check("chats_subagent_kind_check", "subagent_kind IN ('general', 'explore')")
@Check(
  "chats_family_check",
  `(parent_chat_id IS NULL) = (root_chat_id IS NULL) AND (parent_chat_id IS NULL) = (subagent_kind IS NULL)
    AND (parent_chat_id IS NULL) = (depth = 0) AND depth >= 0 AND parent_chat_id <> id AND root_chat_id <> id`,
)
export class ChatEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "chats_pkey" })
  id!: string;

  @Column("uuid", { name: "owner_id" })
  @ForeignKey(() => UserEntity, { name: "chats_owner_fkey", onDelete: "CASCADE" })
  ownerId!: string;

  @Column("text", { name: "title" })
  title!: string;

  @Column("enum", {
    name: "title_source",
    enum: [...TITLE_SOURCES],
    enumName: "title_source",
    default: "first_message",
  })
  titleSource!: TitleSource;

  /** The snapshot in which the title last changed. */
  @Column("bigint", { name: "title_version", default: 0, transformer: int8AsNumber })
  titleVersion!: number;

  /** The snapshot in which the chat's diff status last changed. */
  @Column("bigint", { name: "diff_version", default: 0, transformer: int8AsNumber })
  diffVersion!: number;

  /** Null = the deployment's default at the time of each turn. */
  @Column("uuid", { name: "model_config_id", nullable: true })
  @ForeignKey(() => ModelConfigEntity, { name: "chats_model_config_fkey", onDelete: "SET NULL" })
  modelConfigId!: string | null;

  @Column("uuid", { name: "workspace_id", nullable: true })
  @ForeignKey(() => WorkspaceEntity, { name: "chats_workspace_fkey", onDelete: "SET NULL" })
  workspaceId!: string | null;

  @Column("text", { name: "reasoning_effort", nullable: true })
  reasoningEffort!: ReasoningEffort | null;

  /** Tools that the client runs. */
  @Column("jsonb", { name: "client_tools", default: () => "'[]'", transformer: jsonbText })
  clientTools!: ClientTool[];

  @Column("jsonb", { name: "labels", default: () => "'{}'", transformer: jsonbText })
  labels!: Record<string, string>;

  /** The selected MCP servers; ids of deleted servers are ignored. */
  @Column("uuid", { name: "mcp_server_ids", array: true, default: () => "'{}'" })
  mcpServerIds!: string[];

  /** The newest message that the owner has seen. */
  @Column("bigint", { name: "last_read_message_id", nullable: true })
  lastReadMessageId!: string | null;

  /** The chat whose agent started this one; null = a user did, and the next three columns have no meaning. */
  @Column("uuid", { name: "parent_chat_id", nullable: true })
  @ForeignKey(() => ChatEntity, { name: "chats_parent_fkey", onDelete: "CASCADE" })
  parentChatId!: string | null;

  /** The chat of the family that a user started. */
  @Column("uuid", { name: "root_chat_id", nullable: true })
  @ForeignKey(() => ChatEntity, { name: "chats_root_fkey", onDelete: "CASCADE" })
  rootChatId!: string | null;

  @Column("text", { name: "subagent_kind", nullable: true })
  subagentKind!: SubagentKind | null;

  /** Steps up to the root; 0 for a root. */
  @Column("integer", { name: "depth", default: 0 })
  depth!: number;

  @Column("timestamptz", { name: "created_at", default: () => "now()", transformer: timestampAsMs })
  createdAt!: number;

  @Column("timestamptz", { name: "updated_at", default: () => "now()", transformer: timestampAsMs })
  updatedAt!: number;

  @Column("enum", { name: "status", enum: [...CHAT_STATUSES], enumName: "chat_status" })
  status!: ChatStatus;

  @Column("timestamptz", { name: "archived_at", nullable: true, transformer: timestampAsMs })
  archivedAt!: number | null;

  @Column("uuid", { name: "worker_id", nullable: true })
  workerId!: string | null;

  @Column("uuid", { name: "runner_id", nullable: true })
  runnerId!: string | null;

  @Column("bigint", { name: "snapshot_version", transformer: int8AsNumber })
  snapshotVersion!: number;

  @Column("bigint", { name: "history_version", transformer: int8AsNumber })
  historyVersion!: number;

  @Column("bigint", { name: "reset_version", transformer: int8AsNumber })
  resetVersion!: number;

  @Column("bigint", { name: "queue_version", transformer: int8AsNumber })
  queueVersion!: number;

  @Column("bigint", { name: "status_version", transformer: int8AsNumber })
  statusVersion!: number;

  @Column("bigint", { name: "retry_version", transformer: int8AsNumber })
  retryVersion!: number;

  @Column("integer", { name: "attempt" })
  attempt!: number;

  /** When the present attempt began; null in chats without a transition since the column was added. */
  @Column("timestamptz", { name: "generation_started_at", nullable: true, transformer: timestampAsMs })
  generationStartedAt!: number | null;

  @Column("jsonb", { name: "retry_state", nullable: true, transformer: jsonbText })
  retry!: RetryNotice | null;

  @Column("jsonb", { name: "last_error", nullable: true, transformer: jsonbText })
  lastError!: ChatFailure | null;

  @Column("timestamptz", { name: "action_deadline_at", nullable: true, transformer: timestampAsMs })
  actionDeadlineAt!: number | null;

  @Column("timestamptz", { name: "compaction_requested_at", nullable: true, transformer: timestampAsMs })
  compactionRequestedAt!: number | null;

  @Column("jsonb", { name: "open_calls", default: () => "'[]'", transformer: jsonbText })
  openCalls!: OpenCall[];

  @Column("uuid", { name: "queued_ids", array: true, default: () => "'{}'" })
  queuedIds!: string[];

  /** The messages of the queue that come before all others. */
  @Column("uuid", { name: "priority_queued_ids", array: true, default: () => "'{}'" })
  priorityIds!: string[];
}
