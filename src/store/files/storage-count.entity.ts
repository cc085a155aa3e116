/** How far the background count of chats that are older than `chat_storage` has come: one row. */
import { Check, Column, Entity, PrimaryColumn } from "typeorm";

@Entity("storage_count")
@Check("storage_count_only_check", "is_only")
export class StorageCountEntity {
  /** Keeps the row the only one. */
  @PrimaryColumn("boolean", {
    name: "is_only",
    default: true,
    primaryKeyConstraintName: "storage_count_pkey",
  })
  isOnly!: boolean;

  /** Chats up to this id are counted; null = none yet. */
  @Column("uuid", { name: "counted_to", nullable: true })
  countedTo!: string | null;

  @Column("boolean", { name: "is_done" })
  isDone!: boolean;
}
