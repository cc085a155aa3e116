/** A person connects their account with a tool server, and disconnects it. */
import { readReturnTo } from "../../domain/users/return-to.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { findVisibleMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { CommandResult } from "../chats/chat-commands.js";
import { notFound, refuse, type CommandDependencies } from "../common/command-dependencies.js";

export async function startMcpOauth(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: { serverId: string; returnTo: string | null },
): Promise<CommandResult<{ authorizationUrl: string; expiresAt: Date }>> {
  const { mcpOauth } = dependencies;
  const [server] = await findVisibleMcpServers(dependencies.database, viewer, [input.serverId]);
  if (server === undefined) return notFound("tool server", "serverId");
  if (server.authKind !== "oauth2") {
    const message = `${server.displayName} is not authorised by each person.`;
    return refuse({ code: "INVALID", message, path: ["serverId"] });
  }
  const place = { publicUrl: mcpOauth.publicUrl(), allowedOrigins: mcpOauth.allowedOrigins };
  const returnTo = input.returnTo === null ? null : readReturnTo(input.returnTo, place);
  if (returnTo === null && input.returnTo !== null) {
    const message = "It is neither a path here nor an address that this deployment allows.";
    return refuse({ code: "INVALID", message, path: ["returnTo"] });
  }
  const begun = await mcpOauth.begin(viewer.userId, server, returnTo);
  if (begun.ok) return begun;
  return refuse({ code: "UNAVAILABLE", what: "mcp-server", message: begun.message, path: ["serverId"] });
}

export async function disconnectMcpServer(
  dependencies: CommandDependencies,
  viewer: Viewer,
  serverId: string,
): Promise<CommandResult<{ server: McpServerRecord }>> {
  const [server] = await findVisibleMcpServers(dependencies.database, viewer, [serverId]);
  if (server === undefined) return notFound("tool server", "serverId");
  await dependencies.mcpOauth.disconnect(viewer.userId, server);
  return { ok: true, server };
}
