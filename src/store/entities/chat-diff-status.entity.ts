/** What is known of the branch that a chat works on. */
import { Column, Entity, ForeignKey, PrimaryColumn } from "typeorm";
import { ChatEntity } from "./chat.entity.js";

@Entity("chat_diff_statuses")
export class ChatDiffStatusEntity {
  @PrimaryColumn("uuid", { name: "chat_id", primaryKeyConstraintName: "chat_diff_statuses_pkey" })
  @ForeignKey(() => ChatEntity, { name: "chat_diff_statuses_chat_fkey", onDelete: "CASCADE" })
  chatId!: string;

  @Column("text", { name: "git_branch" })
  gitBranch!: string;

  /** Without user name and password. */
  @Column("text", { name: "git_remote_origin" })
  gitRemoteOrigin!: string;

  /** From then on it may not be true any more. */
  @Column("timestamptz", { name: "stale_at" })
  staleAt!: Date;
}
