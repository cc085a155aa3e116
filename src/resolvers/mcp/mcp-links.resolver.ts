/** Links from chats, message parts and user errors to MCP servers. */
import { Ctx, FieldResolver, Resolver, Root } from "type-graphql";
import { Chat } from "../../schema/chats/chat.type.js";
import { McpServer } from "../../schema/mcp/mcp-server.type.js";
import { NoticePart, ToolCallPart } from "../../schema/chats/message-part.union.js";
import { McpAuthRequired } from "../../schema/common/user-error.interface.js";
import type { Context } from "../common/context.js";
import { toMcpServer } from "./mcp-server-shape.js";

/** Null if the server no longer exists or is not visible to the viewer. */
async function findServer({ loaders, viewer }: Context, id: string | null): Promise<McpServer | null> {
  const record = id === null ? null : await loaders.mcpServers.load(id);
  return record && toMcpServer(record, viewer);
}

@Resolver(() => Chat)
export class ChatMcpServersResolver {
  @FieldResolver(() => [McpServer], {
    description:
      "The MCP servers available to the next turn, sorted by slug: those chosen for the chat and those that are always on. Excludes disabled servers.",
  })
  async mcpServers(@Root() chat: Chat, @Ctx() { selectedMcpServers, viewer }: Context): Promise<McpServer[]> {
    return (await selectedMcpServers(chat.mcpServerIds)).map((record) => toMcpServer(record, viewer));
  }
}

@Resolver(() => ToolCallPart)
export class ToolCallMcpServerResolver {
  @FieldResolver(() => McpServer, {
    nullable: true,
    description:
      "The registered MCP server that provides the tool. Null for all other tools, and if the server no longer exists.",
  })
  mcpServer(@Root() part: ToolCallPart, @Ctx() context: Context): Promise<McpServer | null> {
    return findServer(context, part.mcpServerId);
  }
}

@Resolver(() => NoticePart)
export class NoticeMcpServerResolver {
  @FieldResolver(() => McpServer, {
    nullable: true,
    description: "The MCP server the notice is about. Null if there is none or it no longer exists.",
  })
  mcpServer(@Root() part: NoticePart, @Ctx() context: Context): Promise<McpServer | null> {
    return findServer(context, part.mcpServerId);
  }
}

@Resolver(() => McpAuthRequired)
export class McpAuthRequiredResolver {
  @FieldResolver(() => [McpServer], { description: "The servers to authorize." })
  async servers(@Root() refusal: McpAuthRequired, @Ctx() context: Context): Promise<McpServer[]> {
    const found = await Promise.all(refusal.serverIds.map((id) => findServer(context, id)));
    return found.filter((server) => server !== null);
  }
}
