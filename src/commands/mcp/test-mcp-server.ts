/** Tests an MCP server with its current settings, for admins. */
import { encodeId } from "../../domain/common/ids.js";
import type { McpProbeResult } from "../../domain/mcp/types.js";
import type { Actor } from "../../domain/users/viewer.js";
import { findMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import { asAdmin } from "../users/admin.js";
import type { CommandResult } from "../common/command-result.js";
import type { CommandDependencies } from "../common/command-dependencies.js";
import { NO_SUCH_SERVER } from "./mcp-servers.js";

type TestedServer = { server: McpServerRecord; trial: McpProbeResult };

/**
 * Calls the server between two transactions, so that no database connection waits for it. An unusable server is a
 * result, not a refusal.
 */
export async function testMcpServer(
  dependencies: CommandDependencies,
  actor: Actor,
  serverId: string,
): Promise<CommandResult<TestedServer>> {
  const found = await asAdmin(dependencies, actor, async (transaction) => {
    const [server] = await findMcpServers(transaction, [serverId]);
    if (server === undefined) return { ok: false, refusal: NO_SUCH_SERVER };
    return { ok: true, result: { server }, audit: null };
  });
  if (!found.ok) return found;
  const { server } = found;
  const trial = await dependencies.tryMcpServer(server, actor.userId);
  return asAdmin(dependencies, actor, () =>
    Promise.resolve({
      ok: true,
      result: { server, trial },
      audit: {
        action: "mcp_server_tested",
        targetId: encodeId("mcp", server.id),
        targetName: server.displayName,
        changes: { outcome: { before: null, after: trial.ok ? "reachable" : trial.failure.kind } },
      },
    }),
  );
}
