/** What the mutations on workspaces and their templates answer. */
import { Field, ID, ObjectType } from "type-graphql";
import { Chat } from "../chats/chat.type.js";
import { UserError } from "../common/user-error.interface.js";
import { WorkspaceTemplate } from "./workspace-template.type.js";
import { Workspace } from "./workspace.type.js";

const ERRORS = "Why nothing was done: everything that is wrong, each with its field; empty on success.";

@ObjectType("CreateWorkspacePayload", {
  simpleResolvers: true,
  description: "The new workspace, which is being made.",
})
export class CreateWorkspacePayload {
  @Field(() => Workspace, { nullable: true, description: "Null when it was refused." })
  workspace!: Workspace | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("StartWorkspacePayload", {
  simpleResolvers: true,
  description: "The workspace, which runs or is on its way up.",
})
export class StartWorkspacePayload {
  @Field(() => Workspace, { nullable: true, description: "Null when it was refused." })
  workspace!: Workspace | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("StopWorkspacePayload", {
  simpleResolvers: true,
  description: "The workspace, which is stopped or on its way down.",
})
export class StopWorkspacePayload {
  @Field(() => Workspace, { nullable: true, description: "Null when it was refused." })
  workspace!: Workspace | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteWorkspacePayload", {
  simpleResolvers: true,
  description: "The workspace that will be no more.",
})
export class DeleteWorkspacePayload {
  @Field(() => ID, { nullable: true, description: "Null when it was refused." })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("AttachWorkspacePayload", { simpleResolvers: true, description: "The chat as it is now." })
export class AttachWorkspacePayload {
  @Field(() => Chat, { nullable: true, description: "Null when it was refused." })
  chat!: Chat | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("CreateWorkspaceTemplatePayload", { simpleResolvers: true, description: "The new template." })
export class CreateWorkspaceTemplatePayload {
  @Field(() => WorkspaceTemplate, { nullable: true, description: "Null when it was refused." })
  template!: WorkspaceTemplate | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UpdateWorkspaceTemplatePayload", {
  simpleResolvers: true,
  description: "The template as it is now.",
})
export class UpdateWorkspaceTemplatePayload {
  @Field(() => WorkspaceTemplate, { nullable: true, description: "Null when it was refused." })
  template!: WorkspaceTemplate | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteWorkspaceTemplatePayload", {
  simpleResolvers: true,
  description: "The template that was.",
})
export class DeleteWorkspaceTemplatePayload {
  @Field(() => ID, { nullable: true, description: "Null when it was refused." })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
