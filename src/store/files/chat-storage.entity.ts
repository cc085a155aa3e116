/**
 * How many bytes a chat stores: history, queue, files and client tools. Updated by triggers in the transactions that write
 * those; for chats that are older than the table, first written by the background count.
 */
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import { ChatEntity } from "../chats/chat.entity.js";

@Entity("chat_storage")
@Index("chat_storage_owner_idx", ["ownerId"])
export class ChatStorageEntity {
  @PrimaryColumn("uuid", { name: "chat_id", primaryKeyConstraintName: "chat_storage_pkey" })
  @ForeignKey(() => ChatEntity, { name: "chat_storage_chat_fkey", onDelete: "CASCADE" })
  chatId!: string;

  /** The chat's, which never changes. */
  @Column("uuid", { name: "owner_id" })
  ownerId!: string;

  @Column("bigint", { name: "bytes" })
  bytes!: string;
}
