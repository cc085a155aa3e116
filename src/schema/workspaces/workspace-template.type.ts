/** Workspace templates. */
import { Field, ObjectType } from "type-graphql";
import type { JsonObject } from "../../domain/common/json.js";
import type { WorkspaceProvisioner } from "../../domain/workspaces/workspace.js";
import { describeEnum } from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { BigIntScalar } from "../scalars/big-int.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { JsonScalar } from "../scalars/json.js";

export const WorkspaceProvisionerEnum = describeEnum<WorkspaceProvisioner>(
  "WorkspaceProvisioner",
  "What creates, starts and stops workspaces. New values may be added.",
  {
    local: "A directory on the server's machine, with an agent that is a child process of the server.",
    external: "The operator: they start an agent that connects to the server. Not available for templates.",
    docker: "A container and a volume of a Docker engine.",
    kubernetes: "A pod and a volume of a Kubernetes cluster.",
  },
);

@ObjectType("TemplateParameter", {
  simpleResolvers: true,
  description: "A parameter of a workspace template.",
})
export class TemplateParameter {
  @Field(() => String, { description: "The parameter's name." })
  name!: string;

  @Field(() => String, { description: "The display name." })
  displayName!: string;

  @Field(() => String, { description: "What the parameter is for. May be empty." })
  description!: string;

  @Field(() => Boolean, { description: "Whether a value must be given if there is no default." })
  isRequired!: boolean;

  @Field(() => String, { nullable: true, description: "The default value." })
  defaultValue!: string | null;

  @Field(() => [String], { nullable: true, description: "The allowed values. Null if any text is allowed." })
  options!: string[] | null;
}

@ObjectType("WorkspaceTemplate", {
  implements: Node,
  simpleResolvers: true,
  description: "A template that workspaces can be created from.",
})
export class WorkspaceTemplate implements Node {
  readonly __typename!: "WorkspaceTemplate";

  id!: string;

  @Field(() => String, { description: "The template's unique name for tools and scripts. Never changes." })
  name!: string;

  @Field(() => String, { description: "The display name." })
  displayName!: string;

  @Field(() => String, { description: "What the template is good for, in one or two lines. May be empty." })
  description!: string;

  @Field(() => String, { nullable: true, description: "Long description in Markdown." })
  readme!: string | null;

  @Field(() => WorkspaceProvisionerEnum, { description: "What creates the template's workspaces." })
  provisioner!: WorkspaceProvisioner;

  @Field(() => Boolean, { description: "Whether new workspaces may be created from the template." })
  isEnabled!: boolean;

  @Field(() => DateTimeScalar, { description: "When the template was created." })
  createdAt!: Date;

  @Field(() => [TemplateParameter], { description: "The template's parameters." })
  parameters!: TemplateParameter[];

  @Field(() => BigIntScalar, {
    nullable: true,
    description: "Idle time after which workspaces of this template stop, in milliseconds. Null for never.",
  })
  defaultTtlMs!: number | null;

  @Field(() => Boolean, {
    description:
      "Whether the deployment's `workspaceTtlMs`, where it is set, counts instead of `defaultTtlMs`.",
  })
  allowTtlOverride!: boolean;

  @Field(() => JsonScalar, {
    nullable: true,
    description: "The specification for the provisioner. Null unless the viewer is an admin.",
  })
  spec!: JsonObject | null;
}
