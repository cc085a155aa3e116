/** An admin tries out a tool server as it is set up now. */
import { encodeId } from "../../domain/common/ids.js";
import type { McpTrial } from "../../domain/mcp/types.js";
import type { Actor } from "../../domain/users/viewer.js";
import { findMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import { asAdmin } from "../users/admin.js";
import type { CommandResult } from "../chats/chat-commands.js";
import type { CommandDependencies } from "../common/command-dependencies.js";
import { NO_SUCH_SERVER } from "./mcp-servers.js";

export type TriedServer = { server: McpServerRecord; trial: McpTrial };

/** Asks the server between two transactions: no connection of the database waits for it. */
export async function testMcpServer(
  dependencies: CommandDependencies,
  actor: Actor,
  serverId: string,
): Promise<CommandResult<TriedServer>> {
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
