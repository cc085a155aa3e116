/** Administration of MCP servers. */
import { Arg, Ctx, Mutation, Resolver } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import type { CommandResult } from "../../commands/common/command-result.js";
import {
  CreateMcpServerInput,
  DeleteMcpServerInput,
  UpdateMcpServerInput,
} from "../../schema/mcp/mcp-server.input.js";
import {
  CreateMcpServerPayload,
  DeleteMcpServerPayload,
  UpdateMcpServerPayload,
} from "../../schema/mcp/mcp-server.payloads.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import { type Context, actorOf } from "../common/context.js";
import { readMcpServerChange, readNewMcpServer } from "./mcp-server-inputs.js";
import { toMcpServer } from "./mcp-server-shape.js";
import { databaseId } from "../common/public-ids.js";
import { toUserErrors, type UserErrorObject } from "../common/user-errors.js";

@Resolver()
export class McpServerAdminResolver {
  @Mutation(() => CreateMcpServerPayload, {
    description: "Registers an MCP server for all users. Admins only; recorded in the audit log.",
  })
  async createMcpServer(
    @Arg("input", () => CreateMcpServerInput, { description: "The parameters of the mutation." })
    input: CreateMcpServerInput,
    @Ctx() context: Context,
  ): Promise<CreateMcpServerPayload> {
    const result = await context.commands.createMcpServer(actorOf(context), readNewMcpServer(input));
    return toPayload(result, context);
  }

  @Mutation(() => UpdateMcpServerPayload, {
    description:
      "Changes an MCP server. Running turns keep their current connection. Admins only; recorded in the audit log.",
  })
  async updateMcpServer(
    @Arg("input", () => UpdateMcpServerInput, { description: "The parameters of the mutation." })
    input: UpdateMcpServerInput,
    @Ctx() context: Context,
  ): Promise<UpdateMcpServerPayload> {
    const serverId = databaseId("mcp", input.serverId, "serverId");
    const change = { ...readMcpServerChange(input), serverId };
    return toPayload(await context.commands.updateMcpServer(actorOf(context), change), context);
  }

  @Mutation(() => DeleteMcpServerPayload, {
    description:
      "Deletes an MCP server and all users' authorizations for it. Chats that had selected it continue without it. Admins only; recorded in the audit log.",
  })
  async deleteMcpServer(
    @Arg("input", () => DeleteMcpServerInput, { description: "The parameters of the mutation." })
    input: DeleteMcpServerInput,
    @Ctx() context: Context,
  ): Promise<DeleteMcpServerPayload> {
    const serverId = databaseId("mcp", input.serverId, "serverId");
    const result = await context.commands.deleteMcpServer(actorOf(context), serverId);
    if (!result.ok) return { deletedId: null, userErrors: toUserErrors(result.refusal) };
    context.loaders.forget();
    return { deletedId: encodeId("mcp", result.serverId), userErrors: [] };
  }
}

/** Each mutation of an operation returns the state that it left itself. */
function toPayload(
  result: CommandResult<{ server: McpServerRecord }>,
  { loaders, viewer }: Context,
): { server: CreateMcpServerPayload["server"]; userErrors: UserErrorObject[] } {
  if (!result.ok) return { server: null, userErrors: toUserErrors(result.refusal) };
  loaders.forget();
  return { server: toMcpServer(result.server, viewer), userErrors: [] };
}
