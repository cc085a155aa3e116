/** An MCP server that an admin registered. The migration documents the columns. */
import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from "typeorm";
import type { JsonObject } from "../../domain/common/json.js";
import {
  MCP_AUTH_KINDS,
  MCP_AVAILABILITIES,
  MCP_TRANSPORTS,
  type McpAuthKind,
  type McpAvailability,
  type McpTransport,
} from "../../domain/mcp/types.js";
import { int8AsNumber, jsonbText } from "../common/entity-columns.js";
import { SealedColumn } from "../common/sealed-column.js";
import { UserEntity } from "../users/user.entity.js";

@Entity("mcp_servers")
@Unique("mcp_servers_slug_key", ["slug"])
export class McpServerEntity {
  @PrimaryColumn("uuid", { name: "id", primaryKeyConstraintName: "mcp_servers_pkey" })
  id!: string;

  @Column("text", { name: "slug" })
  slug!: string;

  @Column("text", { name: "display_name" })
  displayName!: string;

  @Column("text", { name: "description", default: "" })
  description!: string;

  @Column("text", { name: "icon_url", nullable: true })
  iconUrl!: string | null;

  @Column("text", { name: "url" })
  url!: string;

  @Column("enum", { name: "transport", enum: [...MCP_TRANSPORTS], enumName: "mcp_transport" })
  transport!: McpTransport;

  @Column("enum", { name: "auth_kind", enum: [...MCP_AUTH_KINDS], enumName: "mcp_auth_kind" })
  authKind!: McpAuthKind;

  @Column("text", { name: "oauth_client_id", nullable: true })
  oauthClientId!: string | null;

  /** Sealed by the secret box. */
  @SealedColumn("mcp_servers", "oauth_client_secret", { nullable: true })
  oauthClientSecret!: string | null;

  @Column("text", { name: "oauth_authorize_url", nullable: true })
  oauthAuthorizeUrl!: string | null;

  @Column("text", { name: "oauth_token_url", nullable: true })
  oauthTokenUrl!: string | null;

  @Column("text", { name: "oauth_scopes", array: true, default: () => "'{}'" })
  oauthScopes!: string[];

  @Column("jsonb", { name: "oauth_discovered", nullable: true, transformer: jsonbText })
  oauthDiscovered!: JsonObject | null;

  /** Sealed by the secret box. */
  @SealedColumn("mcp_servers", "oauth_registered_secret", { nullable: true })
  oauthRegisteredSecret!: string | null;

  @Column("text", { name: "api_key_header", nullable: true })
  apiKeyHeader!: string | null;

  /** Sealed by the secret box. */
  @SealedColumn("mcp_servers", "api_key", { nullable: true })
  apiKey!: string | null;

  /** Sealed by the secret box. */
  @SealedColumn("mcp_servers", "custom_headers", { nullable: true })
  customHeaders!: string | null;

  @Column("text", { name: "tool_allow_list", array: true, default: () => "'{}'" })
  toolAllowList!: string[];

  @Column("text", { name: "tool_deny_list", array: true, default: () => "'{}'" })
  toolDenyList!: string[];

  @Column("enum", {
    name: "availability",
    enum: [...MCP_AVAILABILITIES],
    enumName: "mcp_availability",
    default: "default_off",
  })
  availability!: McpAvailability;

  @Column("boolean", { name: "is_enabled", default: false })
  isEnabled!: boolean;

  @Column("boolean", { name: "allows_private_addresses", default: false })
  allowsPrivateAddresses!: boolean;

  /** Grows with every change by an admin. */
  @Column("bigint", { name: "version", default: 1, transformer: int8AsNumber })
  version!: number;

  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;

  @Column("timestamptz", { name: "updated_at", default: () => "now()" })
  updatedAt!: Date;

  @Column("uuid", { name: "created_by", nullable: true })
  @ForeignKey(() => UserEntity, { name: "mcp_servers_created_by_fkey", onDelete: "SET NULL" })
  createdBy!: string | null;

  @Column("uuid", { name: "updated_by", nullable: true })
  @ForeignKey(() => UserEntity, { name: "mcp_servers_updated_by_fkey", onDelete: "SET NULL" })
  updatedBy!: string | null;
}
