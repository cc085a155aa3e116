/** Lists of MCP servers' tools, as resolvers use them. */
import type { McpAccountState, McpToolDescription } from "../../domain/mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";

export interface McpToolsSource {
  /**
   * The server's tools by name, listed as that user, at most some minutes old, including tools that turns may not use.
   * Null when the server cannot be reached in time, or not as this user. Never rejects.
   */
  list(
    server: McpServerRecord,
    user: { userId: string; account: McpAccountState },
  ): Promise<readonly McpToolDescription[] | null>;
}
