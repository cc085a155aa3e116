/** The tools of an MCP server, as the viewer sees them, and the test of its connection by an admin. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import type { McpToolDescription, McpProbeResult } from "../../domain/mcp/types.js";
import { isToolAllowed } from "../../domain/mcp/tools.js";
import { McpServer } from "../../schema/mcp/mcp-server.type.js";
import { McpTool } from "../../schema/mcp/mcp-tool.type.js";
import {
  type McpServerTestResult,
  TestMcpServerInput,
  TestMcpServerPayload,
} from "../../schema/mcp/mcp-server-test.type.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import { actorOf, type Context } from "../common/context.js";
import { toMcpServer } from "./mcp-server-shape.js";
import { databaseId } from "../common/public-ids.js";
import { toUserErrors } from "../common/user-errors.js";

/** As much as any field that is answered by another server. */
const TEST_COST = 25;

@Resolver(() => McpServer)
export class McpToolsResolver {
  @FieldResolver(() => [McpTool], {
    nullable: true,
    description:
      "The server's tools by name, cached for a few minutes. Listed on the viewer's behalf. Null if the server cannot be reached within 10 seconds or the viewer has not authorized it.",
  })
  async tools(@Root() { serverId }: McpServer, @Ctx() context: Context): Promise<McpTool[] | null> {
    const { loaders, viewer, mcpTools } = context;
    const server = await loaders.mcpServers.load(serverId);
    if (server === null) return null;
    const account = await loaders.mcpAccounts.load(serverId);
    const tools = await mcpTools.list(server, { userId: viewer.userId, account });
    return tools && toTools(server, tools);
  }

  @Mutation(() => TestMcpServerPayload, {
    complexity: TEST_COST,
    description:
      "Connects to an MCP server on the admin's behalf with its current settings and lists its tools. Admins only; recorded in the audit log.",
  })
  async testMcpServer(
    @Arg("input", () => TestMcpServerInput, { description: "The parameters of the mutation." })
    input: TestMcpServerInput,
    @Ctx() context: Context,
  ): Promise<TestMcpServerPayload> {
    const serverId = databaseId("mcp", input.serverId, "serverId");
    const tested = await context.commands.testMcpServer(actorOf(context), serverId);
    if (!tested.ok) return { server: null, result: null, userErrors: toUserErrors(tested.refusal) };
    const { server, trial } = tested;
    return {
      server: toMcpServer(server, context.viewer),
      result: toTestResult(server, trial),
      userErrors: [],
    };
  }
}

function toTools(server: McpServerRecord, tools: readonly McpToolDescription[]): McpTool[] {
  return tools.map((tool) => ({ ...tool, isAllowed: isToolAllowed(server, tool.name) }));
}

function toTestResult(server: McpServerRecord, trial: McpProbeResult): McpServerTestResult {
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
