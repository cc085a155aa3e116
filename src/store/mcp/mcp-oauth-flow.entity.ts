/** An OAuth flow for an MCP server that a user has begun and not finished. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from "typeorm";
import { McpServerEntity } from "./mcp-server.entity.js";
import { int8AsNumber } from "../common/entity-columns.js";
import { SealedColumn } from "../common/sealed-column.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("mcp_oauth_flows")
@Unique("mcp_oauth_flows_state_key", ["stateHash"])
@Index("mcp_oauth_flows_expiry_idx", ["expiresAt"])
@Index("mcp_oauth_flows_user_idx", ["userId"])
@Index("mcp_oauth_flows_server_idx", ["serverId"])
export class McpOauthFlowEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "mcp_oauth_flows_pkey" })
  id!: string;

  @Column("bytea", { name: "state_hash" })
  stateHash!: Buffer;

  /** Null until a browser has continued the flow. */
  @Column("bytea", { name: "browser_hash", nullable: true })
  browserHash!: Buffer | null;

  @Column("uuid", { name: "user_id" })
  @ForeignKey(() => UserEntity, { name: "mcp_oauth_flows_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  @Column("uuid", { name: "server_id" })
  @ForeignKey(() => McpServerEntity, { name: "mcp_oauth_flows_server_fkey", onDelete: "CASCADE" })
  serverId!: string;

  /** The server's settings that it was begun with: after a change it cannot be finished. */
  @Column("bigint", { name: "server_version", transformer: int8AsNumber })
  serverVersion!: number;

  /** Sealed by the secret box. */
  @SealedColumn("mcp_oauth_flows", "code_verifier")
  codeVerifier!: string;

  /** Without the state. */
  @Column("text", { name: "authorization_url" })
  authorizationUrl!: string;

  @Column("text", { name: "redirect_uri" })
  redirectUri!: string;

  /** An absolute URL; null = none was requested. */
  @Column("text", { name: "return_to", nullable: true })
  returnTo!: string | null;

  @Column("timestamptz", { name: "expires_at" })
  expiresAt!: Date;
}
