/** When an admin's read of another user's data was last recorded in the audit log. */
import { Column, Entity, ForeignKey, PrimaryColumn } from "typeorm";
import { UserEntity } from "./user.entity.js";

const KEY = { primaryKeyConstraintName: "admin_reads_pkey" };

@Entity("admin_reads")
export class AdminReadEntity {
  @PrimaryColumn("uuid", { name: "admin_id", ...KEY })
  @ForeignKey(() => UserEntity, { name: "admin_reads_admin_id_fkey", onDelete: "CASCADE" })
  adminId!: string;

  /** As the audit log has it. */
  @PrimaryColumn("text", { name: "target_kind", ...KEY })
  targetKind!: string;

  /** May be gone. */
  @PrimaryColumn("uuid", { name: "target_id", ...KEY })
  targetId!: string;

  @Column("timestamptz", { name: "noted_at", default: () => "now()" })
  notedAt!: Date;
}
