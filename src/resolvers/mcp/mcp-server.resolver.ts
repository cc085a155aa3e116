/** Queries for MCP servers. */
import { Arg, Ctx, Query, Resolver } from "type-graphql";
import { McpServer } from "../../schema/mcp/mcp-server.type.js";
import { listVisibleMcpServers } from "../../store/mcp/mcp-servers.js";
import type { Context } from "../common/context.js";
import { toMcpServer } from "./mcp-server-shape.js";

@Resolver(() => McpServer)
export class McpServerResolver {
  @Query(() => [McpServer], {
    description: "The MCP servers that chats may use, sorted by slug. At most 200.",
  })
  async mcpServers(
    @Arg("includeDisabled", () => Boolean, {
      nullable: true,
      defaultValue: false,
      description: "Whether to include disabled servers. Ignored unless the viewer is an admin.",
    })
    includeDisabled: boolean | null,
    @Ctx() { database, viewer, loaders }: Context,
  ): Promise<McpServer[]> {
    const records = await listVisibleMcpServers(database, viewer, {
      includeDisabled: includeDisabled ?? false,
    });
    for (const record of records) loaders.mcpServers.prime(record.id, record);
    return records.map((record) => toMcpServer(record, viewer));
  }
}
