/** Payloads of the mutations on workspaces and templates. */
import { Field, ID, ObjectType } from "type-graphql";
import { Chat } from "../chats/chat.type.js";
import { UserError } from "../common/user-error.interface.js";
import { WorkspaceTemplate } from "./workspace-template.type.js";
import { Workspace } from "./workspace.type.js";

const ERRORS =
  "Why the mutation was refused: every problem found, each with the path of its field. Empty on success.";

@ObjectType("CreateWorkspacePayload", {
  simpleResolvers: true,
  description: "The new workspace, which is being created.",
})
export class CreateWorkspacePayload {
  @Field(() => Workspace, { nullable: true, description: "The workspace. Null if the mutation was refused." })
  workspace!: Workspace | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("StartWorkspacePayload", {
  simpleResolvers: true,
  description: "The workspace, which is running or starting.",
})
export class StartWorkspacePayload {
  @Field(() => Workspace, { nullable: true, description: "The workspace. Null if the mutation was refused." })
  workspace!: Workspace | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("StopWorkspacePayload", {
  simpleResolvers: true,
  description: "The workspace, which is stopped or stopping.",
})
export class StopWorkspacePayload {
  @Field(() => Workspace, { nullable: true, description: "The workspace. Null if the mutation was refused." })
  workspace!: Workspace | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteWorkspacePayload", {
  simpleResolvers: true,
  description: "The result of `deleteWorkspace`.",
})
export class DeleteWorkspacePayload {
  @Field(() => ID, {
    nullable: true,
    description: "ID of the workspace that is being deleted. Null if the mutation was refused.",
  })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("AttachWorkspacePayload", {
  simpleResolvers: true,
  description: "The chat in its current state.",
})
export class AttachWorkspacePayload {
  @Field(() => Chat, { nullable: true, description: "The chat. Null if the mutation was refused." })
  chat!: Chat | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("AllowWorkspaceMcpServerPayload", {
  simpleResolvers: true,
  description: "The workspace with its permissions.",
})
export class AllowWorkspaceMcpServerPayload {
  @Field(() => Workspace, { nullable: true, description: "The workspace. Null if the mutation was refused." })
  workspace!: Workspace | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("ForbidWorkspaceMcpServerPayload", {
  simpleResolvers: true,
  description: "The workspace with its permissions.",
})
export class ForbidWorkspaceMcpServerPayload {
  @Field(() => Workspace, { nullable: true, description: "The workspace. Null if the mutation was refused." })
  workspace!: Workspace | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("CreateWorkspaceTemplatePayload", { simpleResolvers: true, description: "The new template." })
export class CreateWorkspaceTemplatePayload {
  @Field(() => WorkspaceTemplate, {
    nullable: true,
    description: "The template. Null if the mutation was refused.",
  })
  template!: WorkspaceTemplate | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UpdateWorkspaceTemplatePayload", {
  simpleResolvers: true,
  description: "The template in its current state.",
})
export class UpdateWorkspaceTemplatePayload {
  @Field(() => WorkspaceTemplate, {
    nullable: true,
    description: "The template. Null if the mutation was refused.",
  })
  template!: WorkspaceTemplate | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteWorkspaceTemplatePayload", {
  simpleResolvers: true,
  description: "The result of `deleteWorkspaceTemplate`.",
})
export class DeleteWorkspaceTemplatePayload {
  @Field(() => ID, {
    nullable: true,
    description: "ID of the deleted template. Null if the mutation was refused.",
  })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
