/** Converts MCP servers to API objects, and is the only place that hides admin-only fields. Pure. */
import { encodeId } from "../../domain/common/ids.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { McpServer, McpServerAdmin } from "../../schema/mcp/mcp-server.type.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";

/** For servers visible to the viewer; the store filters out the others. */
export function toMcpServer(record: McpServerRecord, viewer: Viewer): McpServer {
  const { id, slug, displayName, description, iconUrl, isEnabled, availability, transport, authKind } =
    record;
  const { createdAt } = record;
  return {
    __typename: "McpServer",
    id: encodeId("mcp", id),
    serverId: id,
    ...{ slug, displayName, description, iconUrl, isEnabled, availability, transport, authKind, createdAt },
    admin: viewer.role === "admin" ? toAdminBlock(record) : null,
  };
}

function toAdminBlock(record: McpServerRecord): McpServerAdmin {
  const { sealed } = record;
  return {
    url: record.url,
    oauthClientId: record.oauthClientId,
    oauthAuthorizeUrl: record.oauthAuthorizeUrl,
    oauthTokenUrl: record.oauthTokenUrl,
    oauthScopes: record.oauthScopes,
    apiKeyHeader: record.apiKeyHeader,
    hasOauthSecret: sealed.oauthClientSecret !== null,
    hasApiKey: sealed.apiKey !== null,
    hasCustomHeaders: sealed.customHeaders !== null,
    toolAllowList: record.toolAllowList,
    toolDenyList: record.toolDenyList,
    isPrivateNetworkAllowed: record.allowsPrivateAddresses,
    updatedAt: record.updatedAt,
  };
}
