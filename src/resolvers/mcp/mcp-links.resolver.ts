/** From chats, parts of messages and refusals to the tool servers that they name. */
import { Ctx, FieldResolver, Resolver, Root } from "type-graphql";
import { Chat } from "../../schema/chats/chat.type.js";
import { McpServer } from "../../schema/mcp/mcp-server.type.js";
import { NoticePart, ToolCallPart } from "../../schema/chats/message-part.union.js";
import { McpAuthRequired } from "../../schema/common/user-error.interface.js";
import type { Context } from "../common/context.js";
import { toMcpServer } from "./mcp-server-shape.js";

/** Null when it is gone, or not the viewer's to see. */
async function findServer({ loaders, viewer }: Context, id: string | null): Promise<McpServer | null> {
  const record = id === null ? null : await loaders.mcpServers.load(id);
  return record && toMcpServer(record, viewer);
}

@Resolver(() => Chat)
export class ChatMcpServersResolver {
  @FieldResolver(() => [McpServer], {
    description:
      "The tool servers of what is said next, by slug: the chat's own choice, and those that are on in every turn. Disabled ones are left out.",
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
      "The registered server whose tool it is; null for all other tools, and when the server is gone.",
  })
  mcpServer(@Root() part: ToolCallPart, @Ctx() context: Context): Promise<McpServer | null> {
    return findServer(context, part.mcpServerId);
  }
}

@Resolver(() => NoticePart)
export class NoticeMcpServerResolver {
  @FieldResolver(() => McpServer, {
    nullable: true,
    description: "The tool server that it is about; null when it is about none, or the server is gone.",
  })
  mcpServer(@Root() part: NoticePart, @Ctx() context: Context): Promise<McpServer | null> {
    return findServer(context, part.mcpServerId);
  }
}

@Resolver(() => McpAuthRequired)
export class McpAuthRequiredResolver {
  @FieldResolver(() => [McpServer], { description: "The servers that want the person's authorisation." })
  async servers(@Root() refusal: McpAuthRequired, @Ctx() context: Context): Promise<McpServer[]> {
    const found = await Promise.all(refusal.serverIds.map((id) => findServer(context, id)));
    return found.filter((server) => server !== null);
  }
}
