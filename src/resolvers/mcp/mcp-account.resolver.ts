/** The viewer's own authorisations for tool servers. */
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
  @FieldResolver(() => McpAccount, { description: "How the viewer stands with it." })
  account(@Root() { serverId }: McpServer, @Ctx() { loaders }: Context): Promise<McpAccount> {
    return loaders.mcpStandings.load(serverId);
  }

  @Mutation(() => StartMcpOauthPayload, {
    description:
      "Begins to connect the viewer's account with a tool server. An earlier connection stays until this one is finished. At most ten are open at a time; the oldest makes place.",
  })
  async startMcpOauth(
    @Arg("input", () => StartMcpOauthInput, { description: "The server, and where to return to." })
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
      "Forgets the viewer's authorisation for a tool server and has the server revoke it, where it can be reached within five seconds. Does nothing to one that is not connected.",
  })
  async disconnectMcpServer(
    @Arg("input", () => DisconnectMcpServerInput, { description: "Which one." })
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
