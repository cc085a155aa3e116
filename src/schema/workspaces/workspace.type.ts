/** Workspaces, in which agents work. */
import { Field, ObjectType } from "type-graphql";
import type { WorkspaceStatus } from "../../domain/workspaces/workspace.js";
import { connectionType } from "../common/connection.js";
import { WorkspaceStatusEnum } from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { McpTool } from "../mcp/mcp-tool.type.js";

@ObjectType("ContextFile", {
  simpleResolvers: true,
  description: "A file with instructions for the models that work in a workspace.",
})
export class ContextFile {
  @Field(() => String, { description: "The file's path." })
  path!: string;

  @Field(() => Boolean, { description: "Whether only the beginning of the file is used." })
  isTruncated!: boolean;
}

@ObjectType("Skill", {
  simpleResolvers: true,
  description: "A skill: instructions that models in a workspace load when they need them.",
})
export class Skill {
  @Field(() => String, { description: "The skill's name." })
  name!: string;

  @Field(() => String, { description: "What the skill is for, in one line. May be empty." })
  description!: string;
}

@ObjectType("WorkspaceAgent", { simpleResolvers: true, description: "The agent process inside a workspace." })
export class WorkspaceAgent {
  @Field(() => String, { description: "The agent's version." })
  version!: string;

  @Field(() => String, {
    description: "The directory in which commands run and that relative paths refer to.",
  })
  workingDirectory!: string;

  @Field(() => [ContextFile], { description: "Instruction files, most specific last." })
  contextFiles!: ContextFile[];

  @Field(() => [Skill], { description: "The skills found in the workspace." })
  skills!: Skill[];

  @Field(() => [McpTool], {
    nullable: true,
    description: "Tools of the workspace's own MCP servers. Null if they cannot be listed right now.",
  })
  mcpTools!: McpTool[] | null;
}

@ObjectType("Workspace", {
  implements: Node,
  simpleResolvers: true,
  description: "An environment that contains code and in which an agent works.",
})
export class Workspace implements Node {
  readonly __typename!: "Workspace";

  id!: string;

  /** Database ID of the workspace. */
  workspaceId!: string;

  /** Database ID of the owner. */
  ownerId!: string;

  /** Database ID of the template; null if there is none. */
  templateId!: string | null;

  @Field(() => String, { description: "The workspace's name." })
  name!: string;

  @Field(() => WorkspaceStatusEnum, { description: "The workspace's status." })
  status!: WorkspaceStatus;

  @Field(() => String, {
    nullable: true,
    description: "Why the last start, stop or deletion failed. Null if it did not fail.",
  })
  failure!: string | null;

  @Field(() => DateTimeScalar, { description: "When the workspace was created or first connected." })
  createdAt!: number;

  @Field(() => DateTimeScalar, {
    description: "When an agent last worked in the workspace, accurate to the minute.",
  })
  lastUsedAt!: number;
}

export const WorkspaceConnection = connectionType(Workspace, "Workspace");
