/** Reading tool servers. */
import { Arg, Ctx, Query, Resolver } from "type-graphql";
import { McpServer } from "../../schema/mcp/mcp-server.type.js";
import { listVisibleMcpServers } from "../../store/mcp/mcp-servers.js";
import type { Context } from "../common/context.js";
import { toMcpServer } from "./mcp-server-shape.js";

@Resolver(() => McpServer)
export class McpServerResolver {
  @Query(() => [McpServer], { description: "The tool servers that chats may use, by slug; at most 200." })
  async mcpServers(
    @Arg("includeDisabled", () => Boolean, {
      nullable: true,
      defaultValue: false,
      description: "Also those that are switched off. For admins; makes no difference to others.",
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
