/** What workspaces are made of. */
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
  "What makes, starts and stops workspaces. May grow.",
  {
    local: "A directory on the server's machine, with an agent that is the server's child.",
    external: "Somebody else: an operator starts an agent, which calls the server. No template makes these.",
    docker: "A container and a volume of a Docker engine.",
    kubernetes: "A pod and a volume of a Kubernetes cluster.",
  },
);

@ObjectType("TemplateParameter", {
  simpleResolvers: true,
  description: "What a template asks of whoever makes a workspace from it.",
})
export class TemplateParameter {
  @Field(() => String, { description: "By which it is given." })
  name!: string;

  @Field(() => String, { description: "What people call it." })
  displayName!: string;

  @Field(() => String, { description: "What it is for; may be empty." })
  description!: string;

  @Field(() => Boolean, { description: "Whether it must be given where there is no default." })
  isRequired!: boolean;

  @Field(() => String, { nullable: true, description: "What counts when it is not given." })
  defaultValue!: string | null;

  @Field(() => [String], { nullable: true, description: "The only values that it takes; null = any text." })
  options!: string[] | null;
}

@ObjectType("WorkspaceTemplate", {
  implements: Node,
  simpleResolvers: true,
  description: "What a workspace can be made from.",
})
export class WorkspaceTemplate implements Node {
  readonly __typename!: "WorkspaceTemplate";

  id!: string;

  @Field(() => String, { description: "What tools and scripts call it. It never changes." })
  name!: string;

  @Field(() => String, { description: "What people call it." })
  displayName!: string;

  @Field(() => String, { description: "What it is good for, in a line or two; may be empty." })
  description!: string;

  @Field(() => String, { nullable: true, description: "More about it, in Markdown." })
  readme!: string | null;

  @Field(() => WorkspaceProvisionerEnum, { description: "What makes its workspaces." })
  provisioner!: WorkspaceProvisioner;

  @Field(() => Boolean, { description: "Whether new workspaces may be made from it." })
  isEnabled!: boolean;

  @Field(() => DateTimeScalar, { description: "When it was set up." })
  createdAt!: Date;

  @Field(() => [TemplateParameter], { description: "What it asks for." })
  parameters!: TemplateParameter[];

  @Field(() => BigIntScalar, {
    nullable: true,
    description: "Idle milliseconds after which its workspaces stop; null = never.",
  })
  defaultTtlMs!: number | null;

  @Field(() => Boolean, {
    description:
      "Whether the deployment's `workspaceTtlMs`, where it is set, counts instead of `defaultTtlMs`.",
  })
  allowTtlOverride!: boolean;

  @Field(() => JsonScalar, {
    nullable: true,
    description: "What its provisioner is told to make. Admins only; null for everyone else.",
  })
  spec!: JsonObject | null;
}
