/** One row per server process. A chat whose worker has no living lease may be taken over. */
import { Column, Entity, PrimaryColumn } from "typeorm";

@Entity("worker_leases")
export class WorkerLeaseEntity {
  @PrimaryColumn("uuid", { name: "worker_id", primaryKeyConstraintName: "worker_leases_pkey" })
  workerId!: string;

  @Column("timestamptz", { name: "started_at", default: () => "now()" })
  startedAt!: Date;

  @Column("timestamptz", { name: "expires_at" })
  expiresAt!: Date;
}
