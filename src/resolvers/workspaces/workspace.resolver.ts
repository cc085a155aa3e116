/** Queries for workspaces. */
import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from "type-graphql";
import { type Connection, ForwardPageArguments } from "../../schema/common/connection.js";
import { DateTimeScalar } from "../../schema/scalars/date-time.js";
import { autostopAt, effectiveTtlMs } from "../../domain/workspaces/workspace-lifecycle.js";
import { WorkspaceTemplate } from "../../schema/workspaces/workspace-template.type.js";
import { User } from "../../schema/users/user.type.js";
import { Workspace, WorkspaceAgent, WorkspaceConnection } from "../../schema/workspaces/workspace.type.js";
import { listWorkspaces } from "../../store/workspaces/workspaces.js";
import type { Context } from "../common/context.js";
import { findUser } from "../common/links.js";
import { newestFirst, toConnection, toPageRequest } from "../common/page-requests.js";
import { toWorkspace, toWorkspaceTemplate } from "../common/shapes.js";

const RULES = newestFirst("workspaces");

@Resolver(() => Workspace)
export class WorkspaceResolver {
  @Query(() => WorkspaceConnection, {
    description: "The viewer's own workspaces, newest first. Default page size: 25.",
  })
  async workspaces(
    @Args(() => ForwardPageArguments) page: ForwardPageArguments,
    @Arg("search", () => String, {
      nullable: true,
      description: "Only workspaces whose name contains this text, ignoring case.",
    })
    search: string | null | undefined,
    @Ctx() context: Context,
  ): Promise<Connection<Workspace>> {
    const request = toPageRequest(RULES, page);
    const found = await listWorkspaces(context.database, context.viewer, search ?? null, request);
    return toConnection(RULES, found, toWorkspace);
  }

  @FieldResolver(() => WorkspaceAgent, {
    nullable: true,
    description: "The agent process inside the workspace. Null if it is not running or does not respond.",
  })
  async agent(@Root() workspace: Workspace, @Ctx() context: Context): Promise<WorkspaceAgent | null> {
    const facts = await context.workspaceAgent(workspace.workspaceId);
    if (!facts) return null;
    // Access to a workspace covers everything in it.
    return { ...facts, mcpTools: facts.mcpTools?.map((tool) => ({ ...tool, isAllowed: true })) ?? null };
  }

  @FieldResolver(() => WorkspaceTemplate, {
    nullable: true,
    description:
      "The template the workspace was created from. Null if the server neither creates nor stops it: the default workspace and external ones.",
  })
  async template(@Root() workspace: Workspace, @Ctx() context: Context): Promise<WorkspaceTemplate | null> {
    const record = await findTemplateOf(workspace, context);
    return record && toWorkspaceTemplate(record, context.viewer);
  }

  @FieldResolver(() => DateTimeScalar, {
    nullable: true,
    description: "When the workspace stops unless it is used. Null if it does not stop automatically.",
  })
  async autostopAt(@Root() workspace: Workspace, @Ctx() context: Context): Promise<number | null> {
    const template = await findTemplateOf(workspace, context);
    return template && autostopAt(workspace, effectiveTtlMs(template, await context.deploymentTtlMs()));
  }

  @FieldResolver(() => User, { description: "The user who owns the workspace." })
  owner(@Root() workspace: Workspace, @Ctx() context: Context): Promise<User> {
    return findUser(context, workspace.ownerId);
  }
}

function findTemplateOf({ templateId }: Workspace, { loaders }: Context) {
  return templateId === null ? Promise.resolve(null) : loaders.workspaceTemplates.load(templateId);
}
