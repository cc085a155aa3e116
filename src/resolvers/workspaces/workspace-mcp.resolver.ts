/** A workspace's own MCP servers: what asks for permission, what is allowed, and the mutations that decide. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import { commandLineOf, headerLinesOf, urlOf, visibleText } from "../../domain/mcp/entry-display.js";
import { User } from "../../schema/users/user.type.js";
import { WorkspaceMcpServer } from "../../schema/workspaces/workspace-mcp-server.type.js";
import {
  AllowWorkspaceMcpServerInput,
  ForbidWorkspaceMcpServerInput,
} from "../../schema/workspaces/workspace.input.js";
import {
  AllowWorkspaceMcpServerPayload,
  ForbidWorkspaceMcpServerPayload,
} from "../../schema/workspaces/workspace.payloads.js";
import { Workspace } from "../../schema/workspaces/workspace.type.js";
import {
  listMcpEntries,
  type WorkspaceMcpEntryRecord,
} from "../../store/workspaces/workspace-mcp-entries.js";
import type { Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";
import { toUser } from "../common/shapes.js";
import { workspacePayload } from "./workspace-payload.js";

@Resolver(() => Workspace)
export class WorkspaceMcpResolver {
  @FieldResolver(() => [WorkspaceMcpServer], {
    description:
      "MCP servers of the workspace's `.mcp.json` that are not started until a user allows them, oldest request first. Read from the agent if it is running, else as it last reported.",
  })
  async mcpRequests(
    @Root() { workspaceId }: Workspace,
    @Ctx() context: Context,
  ): Promise<WorkspaceMcpServer[]> {
    await context.refreshMcpRequests(workspaceId);
    const entries = await listMcpEntries(context.database, workspaceId);
    return entries.filter(({ allowedAt }) => allowedAt === null).map(toServer);
  }

  @FieldResolver(() => [WorkspaceMcpServer], {
    description:
      "MCP servers that users have allowed in this workspace, whether its `.mcp.json` has them now or not.",
  })
  async allowedMcpServers(
    @Root() { workspaceId }: Workspace,
    @Ctx() context: Context,
  ): Promise<WorkspaceMcpServer[]> {
    const entries = await listMcpEntries(context.database, workspaceId);
    return entries.filter(({ allowedAt }) => allowedAt !== null).map(toServer);
  }

  @Mutation(() => AllowWorkspaceMcpServerPayload, {
    description:
      "Allows an MCP server that asks for permission to run in a workspace. A changed entry asks again. Does nothing if it is allowed.",
  })
  async allowWorkspaceMcpServer(
    @Arg("input", () => AllowWorkspaceMcpServerInput, { description: "The parameters of the mutation." })
    input: AllowWorkspaceMcpServerInput,
    @Ctx() context: Context,
  ): Promise<AllowWorkspaceMcpServerPayload> {
    const result = await context.workspaces.allowMcpServer(actorOf(context), entryOf(input));
    return workspacePayload(result, context);
  }

  @Mutation(() => ForbidWorkspaceMcpServerPayload, {
    description:
      "Takes back the permission for an MCP server of a workspace, and ends it with the calls that run. Does nothing if it is not allowed.",
  })
  async forbidWorkspaceMcpServer(
    @Arg("input", () => ForbidWorkspaceMcpServerInput, { description: "The parameters of the mutation." })
    input: ForbidWorkspaceMcpServerInput,
    @Ctx() context: Context,
  ): Promise<ForbidWorkspaceMcpServerPayload> {
    const result = await context.workspaces.forbidMcpServer(actorOf(context), entryOf(input));
    return workspacePayload(result, context);
  }
}

@Resolver(() => WorkspaceMcpServer)
export class WorkspaceMcpServerResolver {
  @FieldResolver(() => User, {
    nullable: true,
    description: "The user who allowed it. Null if no user has, or their account is gone.",
  })
  async allowedBy(
    @Root() { allowedById }: WorkspaceMcpServer,
    @Ctx() { loaders }: Context,
  ): Promise<User | null> {
    const record = allowedById === null ? null : await loaders.users.load(allowedById);
    return record && toUser(record);
  }
}

function actorOf({ viewer, requestId }: Context) {
  return { ...viewer, requestId };
}

function entryOf({ workspaceId, hash }: AllowWorkspaceMcpServerInput) {
  return { workspaceId: databaseId("ws", workspaceId, "workspaceId"), hash };
}

function toServer({
  entry,
  allowedBy,
  configFile,
  linkTarget,
  ...record
}: WorkspaceMcpEntryRecord): WorkspaceMcpServer {
  return {
    ...record,
    allowedById: allowedBy,
    name: visibleText(entry.name),
    commandLine: commandLineOf(entry),
    url: urlOf(entry),
    headers: headerLinesOf(entry),
    configFile: visibleText(configFile),
    linkTarget: linkTarget === null ? null : visibleText(linkTarget),
  };
}
