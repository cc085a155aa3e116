/** A user's own authorization for an MCP server. */
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from "typeorm";
import { McpServerEntity } from "./mcp-server.entity.js";
import { SealedColumn } from "../common/sealed-column.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("mcp_connections")
@Unique("mcp_connections_person_key", ["userId", "serverId"])
@Index("mcp_connections_server_idx", ["serverId"])
export class McpConnectionEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "mcp_connections_pkey" })
  id!: string;

  @Column("uuid", { name: "user_id" })
  @ForeignKey(() => UserEntity, { name: "mcp_connections_user_fkey", onDelete: "CASCADE" })
  userId!: string;

  @Column("uuid", { name: "server_id" })
  @ForeignKey(() => McpServerEntity, { name: "mcp_connections_server_fkey", onDelete: "CASCADE" })
  serverId!: string;

  /** Sealed by the secret box. */
  @SealedColumn("mcp_connections", "access_token")
  accessToken!: string;

  /** Sealed by the secret box; null where the server gave none. */
  @SealedColumn("mcp_connections", "refresh_token", { nullable: true })
  refreshToken!: string | null;

  @Column("text", { name: "scopes", array: true, default: () => "'{}'" })
  scopes!: string[];

  /** Null = the server did not say. */
  @Column("timestamptz", { name: "expires_at", nullable: true })
  expiresAt!: Date | null;

  @Column("timestamptz", { name: "connected_at", default: () => "now()" })
  connectedAt!: Date;

  @Column("timestamptz", { name: "refreshed_at", nullable: true })
  refreshedAt!: Date | null;

  @Column("uuid", { name: "refresh_claim", nullable: true })
  refreshClaim!: string | null;

  @Column("timestamptz", { name: "refresh_claimed_until", nullable: true })
  refreshClaimedUntil!: Date | null;

  /** Why only the user can renew it; null = it can be renewed, as far as known. */
  @Column("text", { name: "refresh_failure", nullable: true })
  refreshFailure!: string | null;
}
