/** What is known of the branch that a chat works on. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import type { BranchFacts } from "../../domain/git/branch-facts.js";
import { jsonbText } from "../common/entity-columns.js";
import { ChatEntity } from "../chats/chat.entity.js";

@Entity("chat_diff_statuses")
export class ChatDiffStatusEntity {
  @PrimaryColumn("uuid", { name: "chat_id", primaryKeyConstraintName: "chat_diff_statuses_pkey" })
  @ForeignKey(() => ChatEntity, { name: "chat_diff_statuses_chat_fkey", onDelete: "CASCADE" })
  chatId!: string;

  @Column("text", { name: "git_branch" })
  branch!: string;

  /** Without user name and password. */
  @Column("text", { name: "git_remote_origin" })
  remoteOrigin!: string;

  /** When the host is to be asked again. */
  @Index("chat_diff_statuses_stale_idx")
  @Column("timestamptz", { name: "stale_at" })
  staleAt!: Date;

  /** When work on the branch was last seen. */
  @Column("timestamptz", { name: "marked_at", default: () => "now()" })
  markedAt!: Date;

  /** When the look that is under way began, or the last one. */
  @Column("timestamptz", { name: "claimed_at", nullable: true })
  claimedAt!: Date | null;

  /** When the last look began that the host answered. */
  @Column("timestamptz", { name: "refreshed_at", nullable: true })
  refreshedAt!: Date | null;

  /** Why the newest look failed; null when it did not. */
  @Column("text", { name: "failure", nullable: true })
  failure!: string | null;

  /** Null before the first answer about this branch. */
  @Column("jsonb", { name: "facts", nullable: true, transformer: jsonbText })
  facts!: BranchFacts | null;
}
