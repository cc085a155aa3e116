/** What one user may store, instead of the deployment's default. */
import { Check, Column, Entity, ForeignKey, PrimaryColumn } from "typeorm";
import { int8AsBigint } from "../common/entity-columns.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("storage_limit_overrides")
@Check("storage_limit_overrides_limit_check", "limit_bytes >= 0")
export class StorageLimitOverrideEntity {
  @PrimaryColumn("uuid", { name: "user_id", primaryKeyConstraintName: "storage_limit_overrides_pkey" })
  @ForeignKey(() => UserEntity, { name: "storage_limit_overrides_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  /** Null = no limit. */
  @Column("bigint", { name: "limit_bytes", nullable: true, transformer: int8AsBigint })
  limitBytes!: bigint | null;

  @Column("timestamptz", { name: "updated_at", default: () => "now()" })
  updatedAt!: Date;
}
