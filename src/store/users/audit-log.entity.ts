/** What admins did to the deployment. Rows are never changed. */
import { Column, Entity, Index, PrimaryGeneratedColumn } from "typeorm";
import type { JsonObject } from "../../domain/common/json.js";
import type { AuditAction, AuditTargetKind } from "../../domain/users/audit.js";

@Entity("audit_log")
@Index("audit_log_actor_idx", ["actorId", "id"])
@Index("audit_log_target_idx", ["targetKind", "targetId", "id"])
export class AuditLogEntity {
  @PrimaryGeneratedColumn("identity", {
    name: "id",
    type: "bigint",
    generatedIdentity: "ALWAYS",
    primaryKeyConstraintName: "audit_log_pkey",
  })
  id!: string;

  @Column("timestamptz", { name: "at", default: () => "now()" })
  at!: Date;

  /** Null = the server's operator. */
  @Column("uuid", { name: "actor_id", nullable: true })
  actorId!: string | null;

  @Column("text", { name: "actor_name" })
  actorName!: string;

  @Column("text", { name: "action" })
  action!: AuditAction;

  @Column("text", { name: "target_kind" })
  targetKind!: AuditTargetKind;

  @Column("text", { name: "target_id", nullable: true })
  targetId!: string | null;

  @Column("text", { name: "target_name", nullable: true })
  targetName!: string | null;

  @Column("jsonb", { name: "changes", default: {} })
  changes!: JsonObject;

  @Column("text", { name: "request_id", nullable: true })
  requestId!: string | null;
}
