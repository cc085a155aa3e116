/** A place where code is and a workspace agent runs. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from "typeorm";
import type { JsonObject } from "../../domain/common/json.js";
import {
  type RegisteredAgent,
  WORKSPACE_PROVISIONERS,
  WORKSPACE_STATUSES,
  type WorkspaceProvisioner,
  type WorkspaceStatus,
} from "../../domain/workspaces/workspace.js";
import { UserEntity } from "../users/user.entity.js";
import { WorkspaceTemplateEntity } from "./workspace-template.entity.js";
import { jsonbText, timestampAsMs } from "../common/entity-columns.js";

@Entity("workspaces")
@Unique("workspaces_place_key", ["ownerId", "provisioner", "directory"])
@Unique("workspaces_agent_token_hash_key", ["agentTokenHash"])
@Unique("workspaces_agent_registration_key", ["agentRegistration"])
@Index("workspaces_external_name_key", ["ownerId", "name"], {
  unique: true,
  where: "((agent_token_hash IS NOT NULL) AND (template_id IS NULL))",
})
@Unique("workspaces_creation_key_key", ["creationKey"])
@Index("workspaces_work_idx", ["workDueAt"], { where: "(work_due_at IS NOT NULL)" })
@Index("workspaces_template_idx", ["templateId"], { where: "(template_id IS NOT NULL)" })
@Index("workspaces_managed_name_key", ["ownerId", "name"], {
  unique: true,
  where: "(template_id IS NOT NULL)",
})
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

  /** Local: the absolute directory that the agent serves; null when only the agent knows. */
  @Column("text", { name: "directory", nullable: true })
  directory!: string | null;

  /** External: SHA-256 of the token with which its agent calls. */
  @Column("bytea", { name: "agent_token_hash", nullable: true })
  agentTokenHash!: Buffer | null;

  /** External: the id of the current registration; each connection of the agent has its own. */
  @Column("uuid", { name: "agent_registration", nullable: true })
  agentRegistration!: string | null;

  /** External: what its agent reported when it last registered. */
  @Column("jsonb", { name: "agent", nullable: true })
  agent!: RegisteredAgent | null;

  /** External: when the registration expires unless it is renewed. */
  @Column("timestamptz", { name: "agent_expires_at", nullable: true })
  agentExpiresAt!: Date | null;

  @Column("enum", { name: "status", enum: [...WORKSPACE_STATUSES], enumName: "workspace_status" })
  status!: WorkspaceStatus;

  /** Why the last start or stop failed. */
  @Column("text", { name: "failure", nullable: true })
  failure!: string | null;

  @Column("timestamptz", { name: "created_at", default: () => "now()", transformer: timestampAsMs })
  createdAt!: number;

  @Column("timestamptz", { name: "last_used_at", default: () => "now()", transformer: timestampAsMs })
  lastUsedAt!: number;

  /** Null in workspaces without a lifecycle: the default workspace, and external ones. */
  @Column("uuid", { name: "template_id", nullable: true })
  @ForeignKey(() => WorkspaceTemplateEntity, { name: "workspaces_template_fkey", onDelete: "RESTRICT" })
  templateId!: string | null;

  /** The template's when the workspace was made. */
  @Column("jsonb", { name: "spec", nullable: true, transformer: jsonbText })
  spec!: JsonObject | null;

  @Column("jsonb", { name: "parameters", nullable: true, transformer: jsonbText })
  parameters!: Record<string, string> | null;

  /** The idempotency key of the request that created it. */
  @Column("text", { name: "creation_key", nullable: true })
  creationKey!: string | null;

  /** Grows with every permission for an MCP server that users give or take back. */
  @Column("integer", { name: "mcp_revision", default: 0 })
  mcpRevision!: number;

  /** When the present transition of the lifecycle began; the next columns are about it, too. */
  @Column("timestamptz", { name: "work_began_at", nullable: true })
  workBeganAt!: Date | null;

  @Column("integer", { name: "work_tries", default: 0 })
  workTries!: number;

  /** When work on it is due; null = none is. */
  @Column("timestamptz", { name: "work_due_at", nullable: true })
  workDueAt!: Date | null;

  /** The claim of the replica that works on it. */
  @Column("uuid", { name: "work_claim", nullable: true })
  workClaim!: string | null;

  @Column("timestamptz", { name: "work_claimed_until", nullable: true })
  workClaimedUntil!: Date | null;
}
