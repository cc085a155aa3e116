/** What workspaces are made of. */
import { Column, Entity, PrimaryColumn, Unique } from "typeorm";
import type { JsonObject } from "../../domain/common/json.js";
import { WORKSPACE_PROVISIONERS, type WorkspaceProvisioner } from "../../domain/workspaces/workspace.js";
import type { TemplateParameter } from "../../domain/workspaces/workspace-parameters.js";
import { int8AsNumber, jsonbText } from "../common/entity-columns.js";

@Entity("workspace_templates")
@Unique("workspace_templates_name_key", ["name"])
export class WorkspaceTemplateEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "workspace_templates_pkey" })
  id!: string;

  @Column("text", { name: "name" })
  name!: string;

  @Column("text", { name: "display_name" })
  displayName!: string;

  @Column("text", { name: "description" })
  description!: string;

  @Column("text", { name: "readme", nullable: true })
  readme!: string | null;

  @Column("enum", {
    name: "provisioner",
    enum: [...WORKSPACE_PROVISIONERS],
    enumName: "workspace_provisioner",
  })
  provisioner!: WorkspaceProvisioner;

  /** What the provisioner makes; each has its own form. */
  @Column("jsonb", { name: "spec", transformer: jsonbText })
  spec!: JsonObject;

  @Column("jsonb", { name: "parameters", transformer: jsonbText })
  parameters!: TemplateParameter[];

  /** Null = its workspaces never stop by themselves. */
  @Column("bigint", { name: "default_ttl_ms", nullable: true, transformer: int8AsNumber })
  defaultTtlMs!: number | null;

  @Column("boolean", { name: "allow_ttl_override" })
  allowTtlOverride!: boolean;

  @Column("boolean", { name: "is_enabled" })
  isEnabled!: boolean;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;

  @Column("timestamptz", { name: "updated_at", default: () => "now()" })
  updatedAt!: Date;
}
