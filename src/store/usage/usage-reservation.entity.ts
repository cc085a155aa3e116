/** A reservation: the most that a running model call of a user with a limit may cost. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from "typeorm";
import { UserEntity } from "../users/user.entity.js";

@Entity("usage_holds")
@Index("usage_holds_owner_idx", ["ownerId"])
export class UsageReservationEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "usage_holds_pkey" })
  id!: string;

  @Column("uuid", { name: "owner_id" })
  @ForeignKey(() => UserEntity, { name: "usage_holds_owner_fkey", onDelete: "CASCADE" })
  ownerId!: string;

  /** The worker whose lease it ends with; null = made outside of workers. */
  @Column("uuid", { name: "worker_id", nullable: true })
  workerId!: string | null;

  /** Microdollars. */
  @Column("bigint", { name: "micros" })
  micros!: string;

  /** At the latest, also while its worker lives. */
  @Column("timestamptz", { name: "expires_at" })
  expiresAt!: Date;
}
