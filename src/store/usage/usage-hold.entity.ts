/** What one model call under way may cost at most, of a person with a limit. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import { UserEntity } from "../users/user.entity.js";

@Entity("usage_holds")
@Index("usage_holds_owner_idx", ["ownerId"])
export class UsageHoldEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "usage_holds_pkey" })
  id!: string;

  @Column("uuid", { name: "owner_id" })
  @ForeignKey(() => UserEntity, { name: "usage_holds_owner_fkey", onDelete: "CASCADE" })
  ownerId!: string;

  /** Whose lease it ends with; null = it was taken outside of workers. */
  @Column("uuid", { name: "worker_id", nullable: true })
  workerId!: string | null;

  /** Microdollars. */
  @Column("bigint", { name: "micros" })
  micros!: string;

  /** However alive its worker is. */
  @Column("timestamptz", { name: "expires_at" })
  expiresAt!: Date;
}
