/** What tools a server has: for the viewer who chooses, and for the admin who tries it out. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import type { McpToolFacts, McpTrial } from "../../domain/mcp/types.js";
import { isToolAllowed } from "../../domain/mcp/tools.js";
import { McpServer } from "../../schema/mcp/mcp-server.type.js";
import { McpTool } from "../../schema/mcp/mcp-tool.type.js";
import {
  type McpServerTrial,
  TestMcpServerInput,
  TestMcpServerPayload,
} from "../../schema/mcp/mcp-trial.type.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import { actorOf, type Context } from "../common/context.js";
import { toMcpServer } from "./mcp-server-shape.js";
import { databaseId } from "../common/public-ids.js";
import { toUserErrors } from "../common/user-errors.js";

/** As much as any field that another server answers. */
const TRIAL_COST = 25;

@Resolver(() => McpServer)
export class McpToolsResolver {
  @FieldResolver(() => [McpTool], {
    nullable: true,
    description:
      "Its tools by name, at most some minutes old: asked of the server itself in the viewer's name. Null when it cannot be reached within 10 seconds, or the viewer has not authorised it.",
  })
  async tools(@Root() { serverId }: McpServer, @Ctx() context: Context): Promise<McpTool[] | null> {
    const { loaders, viewer, mcpTools } = context;
    const server = await loaders.mcpServers.load(serverId);
    if (server === null) return null;
    const standing = await loaders.mcpStandings.load(serverId);
    const tools = await mcpTools.list(server, { userId: viewer.userId, standing });
    return tools && toTools(server, tools);
  }

  @Mutation(() => TestMcpServerPayload, {
    complexity: TRIAL_COST,
    description:
      "Connects to a tool server in the admin's own name with its present settings and lists its tools. For admins; recorded in the audit log.",
  })
  async testMcpServer(
    @Arg("input", () => TestMcpServerInput, { description: "Which one." }) input: TestMcpServerInput,
    @Ctx() context: Context,
  ): Promise<TestMcpServerPayload> {
    const serverId = databaseId("mcp", input.serverId, "serverId");
    const result = await context.commands.testMcpServer(actorOf(context), serverId);
    if (!result.ok) return { server: null, trial: null, userErrors: toUserErrors(result.refusal) };
    const { server, trial } = result;
    return { server: toMcpServer(server, context.viewer), trial: toTrial(server, trial), userErrors: [] };
  }
}

function toTools(server: McpServerRecord, tools: readonly McpToolFacts[]): McpTool[] {
  return tools.map((tool) => ({ ...tool, isAllowed: isToolAllowed(server, tool.name) }));
}

function toTrial(server: McpServerRecord, trial: McpTrial): McpServerTrial {
  const unknown = {
    serverName: null,
    serverVersion: null,
    protocolVersion: null,
    toolCount: null,
    tools: null,
  };
  const latencyMs = Math.round(trial.latencyMs);
  if (!trial.ok) return { isReachable: false, latencyMs, ...unknown, failure: trial.failure };
  const { serverName, serverVersion, protocolVersion, tools } = trial;
  const known = { serverName, serverVersion, protocolVersion, toolCount: tools.length };
  return { isReachable: true, latencyMs, ...known, tools: toTools(server, tools), failure: null };
}
