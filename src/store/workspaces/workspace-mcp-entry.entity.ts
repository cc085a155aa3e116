/** An entry of a workspace's `.mcp.json` that asks for permission, or that a user has allowed. */
import { Column, Entity, ForeignKey, PrimaryColumn } from "typeorm";
import type { WorkspaceMcpEntry } from "../../domain/mcp/workspace-entry.js";
import { jsonbText, timestampAsMs } from "../common/entity-columns.js";
import { UserEntity } from "../users/user.entity.js";
import { WorkspaceEntity } from "./workspace.entity.js";

@Entity("workspace_mcp_entries")
export class WorkspaceMcpEntryEntity {
  @PrimaryColumn("uuid", { name: "workspace_id", primaryKeyConstraintName: "workspace_mcp_entries_pkey" })
  @ForeignKey(() => WorkspaceEntity, { name: "workspace_mcp_entries_workspace_fkey", onDelete: "CASCADE" })
  workspaceId!: string;

  /** Of everything that decides what is started: `sha256:` and 64 hexadecimal digits. */
  @PrimaryColumn("text", { name: "hash", primaryKeyConstraintName: "workspace_mcp_entries_pkey" })
  hash!: string;

  @Column("jsonb", { name: "entry", transformer: jsonbText })
  entry!: WorkspaceMcpEntry;

  @Column("text", { name: "config_file" })
  configFile!: string;

  /** What the file is a link to; null = it is none. */
  @Column("text", { name: "link_target", nullable: true })
  linkTarget!: string | null;

  @Column("timestamptz", { name: "requested_at", default: () => "now()", transformer: timestampAsMs })
  requestedAt!: number;

  /** Null = not allowed. */
  @Column("timestamptz", { name: "allowed_at", nullable: true, transformer: timestampAsMs })
  allowedAt!: number | null;

  /** Null = not allowed, or the user is gone. */
  @Column("uuid", { name: "allowed_by", nullable: true })
  @ForeignKey(() => UserEntity, { name: "workspace_mcp_entries_user_fkey", onDelete: "SET NULL" })
  allowedBy!: string | null;
}
