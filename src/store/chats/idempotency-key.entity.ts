/** The result of a user's first request with an idempotency key, so that a repetition gets the same answer. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import { int8AsNumber } from "../common/entity-columns.js";
import { ChatEntity } from "./chat.entity.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("idempotency_keys")
@Index("idempotency_keys_queued_idx", ["queuedId"], { where: "queued_id IS NOT NULL" })
export class IdempotencyKeyEntity {
  @PrimaryColumn("uuid", { name: "user_id", primaryKeyConstraintName: "idempotency_keys_pkey" })
  @ForeignKey(() => UserEntity, { name: "idempotency_keys_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  @PrimaryColumn("text", { name: "key", primaryKeyConstraintName: "idempotency_keys_pkey" })
  key!: string;

  @Column("uuid", { name: "chat_id" })
  @ForeignKey(() => ChatEntity, { name: "idempotency_keys_chat_fkey", onDelete: "CASCADE" })
  chatId!: string;

  @Column("bigint", { name: "message_id", nullable: true })
  messageId!: string | null;

  @Column("uuid", { name: "queued_id", nullable: true })
  queuedId!: string | null;

  /** The chat's snapshot at which the result is visible. */
  @Column("bigint", { name: "version", transformer: int8AsNumber })
  version!: number;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
