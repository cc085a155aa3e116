/** Places where agents work. */
import { Field, ObjectType } from "type-graphql";
import type { WorkspaceStatus } from "../../domain/workspaces/workspace.js";
import { connectionType } from "../common/connection.js";
import { WorkspaceStatusEnum } from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { McpTool } from "../mcp/mcp-tool.type.js";

@ObjectType("ContextFilePart", {
  simpleResolvers: true,
  description: "A file of instructions that models in a workspace are given.",
})
export class ContextFilePart {
  @Field(() => String, { description: "Where it is." })
  path!: string;

  @Field(() => Boolean, { description: "Whether only its beginning is given." })
  isTruncated!: boolean;
}

@ObjectType("SkillPart", {
  simpleResolvers: true,
  description: "Something that models in a workspace can learn to do when they need it.",
})
export class SkillPart {
  @Field(() => String, { description: "Its name." })
  name!: string;

  @Field(() => String, { description: "What it is for, in a line; may be empty." })
  description!: string;
}

@ObjectType("WorkspaceAgent", { simpleResolvers: true, description: "The process inside a workspace." })
export class WorkspaceAgent {
  @Field(() => String, { description: "The program's version." })
  version!: string;

  @Field(() => String, { description: "Where commands run and relative paths begin." })
  workingDirectory!: string;

  @Field(() => [ContextFilePart], { description: "Instruction files, the most particular last." })
  contextFiles!: ContextFilePart[];

  @Field(() => [SkillPart], { description: "Skills." })
  skills!: SkillPart[];

  @Field(() => [McpTool], {
    nullable: true,
    description: "Tools of the workspace's own MCP servers; null when they cannot be listed now.",
  })
  mcpTools!: McpTool[] | null;
}

@ObjectType("Workspace", {
  implements: Node,
  simpleResolvers: true,
  description: "A place where code is and an agent works.",
})
export class Workspace implements Node {
  readonly __typename!: "Workspace";

  id!: string;

  /** The database's id of the workspace itself. */
  workspaceId!: string;

  /** The database's id of the owner. */
  ownerId!: string;

  /** The database's id of the template; null without one. */
  templateId!: string | null;

  @Field(() => String, { description: "What its owner calls it." })
  name!: string;

  @Field(() => WorkspaceStatusEnum, { description: "How it stands." })
  status!: WorkspaceStatus;

  @Field(() => String, { nullable: true, description: "Why the last start, stop or deletion failed." })
  failure!: string | null;

  @Field(() => DateTimeScalar, { description: "When it was made, or first seen." })
  createdAt!: number;

  @Field(() => DateTimeScalar, { description: "When an agent last worked in it, to the minute." })
  lastUsedAt!: number;
}

export const WorkspaceConnection = connectionType(Workspace, "Workspace");
