/** What resolvers ask of those who list the tools of registered servers. */
import type { McpStanding, McpToolFacts } from "../../domain/mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";

export interface McpToolsSource {
  /**
   * What the server has, by name, asked of it in the person's name, at most some minutes old; tools that turns may not
   * use are among them. Null when it cannot be reached in time, or not in this person's name. Never rejects.
   */
  list(
    server: McpServerRecord,
    person: { userId: string; standing: McpStanding },
  ): Promise<readonly McpToolFacts[] | null>;
}
