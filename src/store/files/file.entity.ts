/** A file that a user added to a chat or a tool created there, its bytes in the database or in an object store. */
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import { ChatEntity } from "../chats/chat.entity.js";
import { int8AsNumber } from "../common/entity-columns.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("files")
@Index("files_owner_idx", ["ownerId"])
@Index("files_chat_idx", ["chatId", "attachedAt"])
@Index("files_loose_idx", ["createdAt"], { where: "chat_id IS NULL" })
@Index("files_loose_owner_idx", ["ownerId"], { where: "chat_id IS NULL" })
@Check("files_bytes_check", "(ready_at IS NULL) = (content IS NULL AND object_key IS NULL)")
export class FileEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "files_pkey" })
  id!: string;

  @Column("uuid", { name: "owner_id" })
  @ForeignKey(() => UserEntity, { name: "files_owner_fkey", onDelete: "CASCADE" })
  ownerId!: string;

  @Column("text", { name: "name" })
  name!: string;

  @Column("text", { name: "media_type" })
  mediaType!: string;

  @Column("bigint", { name: "size_bytes", transformer: int8AsNumber })
  sizeBytes!: number;

  /** Null when the bytes are in the object store, or have not come. */
  @Column("bytea", { name: "content", nullable: true })
  content!: Buffer | null;

  /** Null until it is sent. */
  @Column("uuid", { name: "chat_id", nullable: true })
  @ForeignKey(() => ChatEntity, { name: "files_chat_fkey", onDelete: "CASCADE" })
  chatId!: string | null;

  /** When it was last given to its chat. */
  @Column("timestamptz", { name: "attached_at", nullable: true })
  attachedAt!: Date | null;

  /** Null until its bytes have come. */
  @Column("timestamptz", { name: "ready_at", nullable: true })
  readyAt!: Date | null;

  /** Of its bytes. */
  @Column("bytea", { name: "sha256", nullable: true })
  sha256!: Buffer | null;

  /** Where its bytes are in the object store. */
  @Column("text", { name: "object_key", nullable: true })
  objectKey!: string | null;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
