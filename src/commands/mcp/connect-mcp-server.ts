/** Connects and disconnects the viewer's account with an MCP server. */
import { readReturnTo } from "../../domain/users/return-to.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { findVisibleMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { CommandResult } from "../common/command-result.js";
import { notFound, refuse, type CommandDependencies } from "../common/command-dependencies.js";

/** Starts an authorization; the user's browser goes to `authorizationUrl`. */
export async function startMcpOauth(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: { serverId: string; returnTo: string | null },
): Promise<CommandResult<{ authorizationUrl: string; expiresAt: Date }>> {
  const { mcpOauth } = dependencies;
  const [server] = await findVisibleMcpServers(dependencies.database, viewer, [input.serverId]);
  if (server === undefined) return notFound("MCP server", "serverId");
  if (server.authKind !== "oauth2") {
    const message = `${server.displayName} does not use per-user authorization.`;
    return refuse({ code: "INVALID", message, path: ["serverId"] });
  }
  const allowed = { publicUrl: mcpOauth.publicUrl(), allowedOrigins: mcpOauth.allowedOrigins };
  const returnTo = input.returnTo === null ? null : readReturnTo(input.returnTo, allowed);
  if (returnTo === null && input.returnTo !== null) {
    const message = "returnTo is neither a path of this deployment nor an address that it allows.";
    return refuse({ code: "INVALID", message, path: ["returnTo"] });
  }
  const started = await mcpOauth.begin(viewer.userId, server, returnTo);
  if (started.ok) return started;
  return refuse({ code: "UNAVAILABLE", what: "mcp-server", message: started.message, path: ["serverId"] });
}

/** Succeeds when there is no connection. */
export async function disconnectMcpServer(
  dependencies: CommandDependencies,
  viewer: Viewer,
  serverId: string,
): Promise<CommandResult<{ server: McpServerRecord }>> {
  const [server] = await findVisibleMcpServers(dependencies.database, viewer, [serverId]);
  if (server === undefined) return notFound("MCP server", "serverId");
  await dependencies.mcpOauth.disconnect(viewer.userId, server);
  return { ok: true, server };
}
