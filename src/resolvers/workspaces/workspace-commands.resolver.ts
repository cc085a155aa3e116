/** People make, start, stop and delete workspaces, and have chats work in them. */
import { Arg, Ctx, Mutation, Resolver } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import type { WorkspaceWish } from "../../domain/workspaces/workspace-lifecycle.js";
import type { CommandResult } from "../../commands/chats/chat-commands.js";
import {
  AttachWorkspaceInput,
  CreateWorkspaceInput,
  DeleteWorkspaceInput,
  StartWorkspaceInput,
  StopWorkspaceInput,
} from "../../schema/workspaces/workspace.input.js";
import {
  AttachWorkspacePayload,
  CreateWorkspacePayload,
  DeleteWorkspacePayload,
  StartWorkspacePayload,
  StopWorkspacePayload,
} from "../../schema/workspaces/workspace.payloads.js";
import type { Workspace } from "../../schema/workspaces/workspace.type.js";
import type { Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";
import { toChat, toWorkspace } from "../common/shapes.js";
import { toUserErrors } from "../common/user-errors.js";

@Resolver()
export class WorkspaceCommandsResolver {
  @Mutation(() => CreateWorkspacePayload, {
    description:
      "Makes a workspace of the viewer's from a template and starts it; follow its `status` until it is RUNNING or FAILED.",
  })
  async createWorkspace(
    @Arg("input", () => CreateWorkspaceInput, { description: "The workspace." }) input: CreateWorkspaceInput,
    @Ctx() context: Context,
  ): Promise<CreateWorkspacePayload> {
    const result = await context.workspaces.createWorkspace(context.viewer, {
      templateId: databaseId("tpl", input.templateId, "templateId"),
      name: input.name ?? undefined,
      parameters: input.parameters ?? [],
    });
    return workspacePayload(result, context);
  }

  @Mutation(() => StartWorkspacePayload, {
    description: "Starts a workspace that is stopped or has failed; one that runs goes on.",
  })
  async startWorkspace(
    @Arg("input", () => StartWorkspaceInput, { description: "Which one." }) input: StartWorkspaceInput,
    @Ctx() context: Context,
  ): Promise<StartWorkspacePayload> {
    return workspacePayload(await wish(context, input.workspaceId, "start"), context);
  }

  @Mutation(() => StopWorkspacePayload, {
    description: "Stops a workspace with everything that runs in it; its files stay.",
  })
  async stopWorkspace(
    @Arg("input", () => StopWorkspaceInput, { description: "Which one." }) input: StopWorkspaceInput,
    @Ctx() context: Context,
  ): Promise<StopWorkspacePayload> {
    return workspacePayload(await wish(context, input.workspaceId, "stop"), context);
  }

  @Mutation(() => DeleteWorkspacePayload, {
    description:
      "Deletes a workspace with its files, for ever; it is DELETING until it is gone. Its chats stay, without a workspace.",
  })
  async deleteWorkspace(
    @Arg("input", () => DeleteWorkspaceInput, { description: "Which one." }) input: DeleteWorkspaceInput,
    @Ctx() context: Context,
  ): Promise<DeleteWorkspacePayload> {
    const result = await wish(context, input.workspaceId, "delete");
    if (!result.ok) return { deletedId: null, userErrors: toUserErrors(result.refusal) };
    context.loaders.forget();
    return { deletedId: encodeId("ws", result.workspaceId), userErrors: [] };
  }

  @Mutation(() => AttachWorkspacePayload, {
    description:
      "Has a chat work in another workspace of its owner's. A turn that runs now ends where it began.",
  })
  async attachWorkspace(
    @Arg("input", () => AttachWorkspaceInput, { description: "Which chat, and where." })
    input: AttachWorkspaceInput,
    @Ctx() context: Context,
  ): Promise<AttachWorkspacePayload> {
    const result = await context.workspaces.attachWorkspace(context.viewer, {
      chatId: databaseId("chat", input.chatId, "chatId"),
      workspaceId: databaseId("ws", input.workspaceId, "workspaceId"),
    });
    if (!result.ok) return { chat: null, userErrors: toUserErrors(result.refusal) };
    context.loaders.forget();
    const record = await context.loaders.chats.load(result.chatId);
    return { chat: record && toChat(record), userErrors: [] };
  }
}

function wish(context: Context, id: string, what: WorkspaceWish) {
  return context.workspaces.wish(context.viewer, databaseId("ws", id, "workspaceId"), what);
}

async function workspacePayload(
  result: CommandResult<{ workspaceId: string }>,
  context: Context,
): Promise<{ workspace: Workspace | null; userErrors: ReturnType<typeof toUserErrors> }> {
  if (!result.ok) return { workspace: null, userErrors: toUserErrors(result.refusal) };
  context.loaders.forget();
  const record = await context.loaders.workspaces.load(result.workspaceId);
  return { workspace: record && toWorkspace(record), userErrors: [] };
}
