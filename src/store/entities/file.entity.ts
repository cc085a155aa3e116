/** A file that a person brought to a chat, kept in the database. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import { UserEntity } from "./user.entity.js";

@Entity("files")
@Index("files_owner_idx", ["ownerId"])
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

  @Column("bigint", { name: "size_bytes" })
  sizeBytes!: string;

  @Column("bytea", { name: "content" })
  content!: Buffer;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
