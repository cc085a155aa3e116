/** A place where code is and a workspace agent runs. */
import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from "typeorm";
import {
  WORKSPACE_PROVISIONERS,
  WORKSPACE_STATUSES,
  type WorkspaceProvisioner,
  type WorkspaceStatus,
} from "../../domain/workspace.js";
import { UserEntity } from "./user.entity.js";

@Entity("workspaces")
@Unique("workspaces_place_key", ["ownerId", "provisioner", "directory"])
export class WorkspaceEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "workspaces_pkey" })
  id!: string;

  @Column("uuid", { name: "owner_id" })
  @ForeignKey(() => UserEntity, { name: "workspaces_owner_fkey", onDelete: "CASCADE" })
  ownerId!: string;

  @Column("text", { name: "name" })
  name!: string;

  @Column("enum", {
    name: "provisioner",
    enum: [...WORKSPACE_PROVISIONERS],
    enumName: "workspace_provisioner",
  })
  provisioner!: WorkspaceProvisioner;

  /** Local: the absolute directory that the agent serves. */
  @Column("text", { name: "directory" })
  directory!: string;

  @Column("enum", { name: "status", enum: [...WORKSPACE_STATUSES], enumName: "workspace_status" })
  status!: WorkspaceStatus;

  /** Why the last start or stop failed. */
  @Column("text", { name: "failure", nullable: true })
  failure!: string | null;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;

  @Column("timestamptz", { name: "last_used_at", default: () => "now()" })
  lastUsedAt!: Date;
}
