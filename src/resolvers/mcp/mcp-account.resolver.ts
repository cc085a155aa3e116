/** The viewer's accounts on MCP servers. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import {
  DisconnectMcpServerInput,
  DisconnectMcpServerPayload,
  StartMcpOauthInput,
  StartMcpOauthPayload,
} from "../../schema/mcp/mcp-account.type.js";
import { McpAccount, McpServer } from "../../schema/mcp/mcp-server.type.js";
import type { Context } from "../common/context.js";
import { toMcpServer } from "./mcp-server-shape.js";
import { databaseId } from "../common/public-ids.js";
import { toUserError } from "../common/user-errors.js";

@Resolver(() => McpServer)
export class McpConnectionResolver {
  @FieldResolver(() => McpAccount, { description: "The viewer's connection to the server." })
  account(@Root() { serverId }: McpServer, @Ctx() { loaders }: Context): Promise<McpAccount> {
    return loaders.mcpAccounts.load(serverId);
  }

  @Mutation(() => StartMcpOauthPayload, {
    description:
      "Starts to connect the viewer's account with an MCP server. An existing connection remains until the new one is completed. At most ten attempts can be pending; beyond that, the oldest is discarded.",
  })
  async startMcpOauth(
    @Arg("input", () => StartMcpOauthInput, { description: "The parameters of the mutation." })
    input: StartMcpOauthInput,
    @Ctx() { commands, viewer }: Context,
  ): Promise<StartMcpOauthPayload> {
    const serverId = databaseId("mcp", input.serverId, "serverId");
    const result = await commands.startMcpOauth(viewer, { serverId, returnTo: input.returnTo ?? null });
    if (!result.ok)
      return { authorizationUrl: null, expiresAt: null, userErrors: [toUserError(result.refusal)] };
    const { authorizationUrl, expiresAt } = result;
    return { authorizationUrl, expiresAt, userErrors: [] };
  }

  @Mutation(() => DisconnectMcpServerPayload, {
    description:
      "Deletes the viewer's authorization for an MCP server, and revokes it on the server if that responds within five seconds. Does nothing if the server is not connected.",
  })
  async disconnectMcpServer(
    @Arg("input", () => DisconnectMcpServerInput, { description: "The parameters of the mutation." })
    input: DisconnectMcpServerInput,
    @Ctx() { commands, viewer, loaders }: Context,
  ): Promise<DisconnectMcpServerPayload> {
    const serverId = databaseId("mcp", input.serverId, "serverId");
    const result = await commands.disconnectMcpServer(viewer, serverId);
    if (!result.ok) return { server: null, userErrors: [toUserError(result.refusal)] };
    loaders.forget();
    return { server: toMcpServer(result.server, viewer), userErrors: [] };
  }
}
