/** Mutations on workspaces. */
import { Arg, Ctx, Mutation, Resolver } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import type { WorkspaceAction } from "../../domain/workspaces/workspace-lifecycle.js";
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
import type { Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";
import { toChat } from "../common/shapes.js";
import { toUserErrors } from "../common/user-errors.js";
import { workspacePayload } from "./workspace-payload.js";

@Resolver()
export class WorkspaceCommandsResolver {
  @Mutation(() => CreateWorkspacePayload, {
    description:
      "Creates a workspace from a template and starts it. Watch its `status` until it is RUNNING or FAILED.",
  })
  async createWorkspace(
    @Arg("input", () => CreateWorkspaceInput, { description: "The parameters of the mutation." })
    input: CreateWorkspaceInput,
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
    description: "Starts a workspace that is stopped or has failed. Does nothing if it is running.",
  })
  async startWorkspace(
    @Arg("input", () => StartWorkspaceInput, { description: "The parameters of the mutation." })
    input: StartWorkspaceInput,
    @Ctx() context: Context,
  ): Promise<StartWorkspacePayload> {
    return workspacePayload(await setDesiredState(context, input.workspaceId, "start"), context);
  }

  @Mutation(() => StopWorkspacePayload, {
    description: "Stops a workspace and everything that runs in it. Its files remain.",
  })
  async stopWorkspace(
    @Arg("input", () => StopWorkspaceInput, { description: "The parameters of the mutation." })
    input: StopWorkspaceInput,
    @Ctx() context: Context,
  ): Promise<StopWorkspacePayload> {
    return workspacePayload(await setDesiredState(context, input.workspaceId, "stop"), context);
  }

  @Mutation(() => DeleteWorkspacePayload, {
    description:
      "Deletes a workspace and its files permanently. Its status is DELETING until it is gone. Its chats remain, without a workspace.",
  })
  async deleteWorkspace(
    @Arg("input", () => DeleteWorkspaceInput, { description: "The parameters of the mutation." })
    input: DeleteWorkspaceInput,
    @Ctx() context: Context,
  ): Promise<DeleteWorkspacePayload> {
    const result = await setDesiredState(context, input.workspaceId, "delete");
    if (!result.ok) return { deletedId: null, userErrors: toUserErrors(result.refusal) };
    context.loaders.forget();
    return { deletedId: encodeId("ws", result.workspaceId), userErrors: [] };
  }

  @Mutation(() => AttachWorkspacePayload, {
    description:
      "Attaches a chat to another workspace of its owner. A running turn finishes in the previous one.",
  })
  async attachWorkspace(
    @Arg("input", () => AttachWorkspaceInput, { description: "The parameters of the mutation." })
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

function setDesiredState(context: Context, id: string, action: WorkspaceAction) {
  return context.workspaces.setDesiredState(context.viewer, {
    workspaceId: databaseId("ws", id, "workspaceId"),
    action,
  });
}
