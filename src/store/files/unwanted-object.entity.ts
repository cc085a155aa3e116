/** An object of the object store that no file has any more, or not yet. */
import { Column, Entity, Index, PrimaryColumn } from "typeorm";

@Entity("unwanted_objects")
@Index("unwanted_objects_due_idx", ["dueAt"])
export class UnwantedObjectEntity {
  @PrimaryColumn("text", { name: "object_key", primaryKeyConstraintName: "unwanted_objects_pkey" })
  objectKey!: string;

  /** Taken away after that. */
  @Column("timestamptz", { name: "due_at" })
  dueAt!: Date;
}
