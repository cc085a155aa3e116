/** Places where agents work. */
import { Field, ObjectType } from "type-graphql";
import type { WorkspaceStatus } from "../domain/workspace.js";
import { connectionType } from "./connection.js";
import { WorkspaceStatusEnum } from "./enums.js";
import { Node } from "./node.interface.js";
import { DateTimeScalar } from "./scalars/date-time.js";

@ObjectType("Workspace", {
  implements: Node,
  simpleResolvers: true,
  description: "A place where code is and an agent works.",
})
export class Workspace implements Node {
  readonly __typename!: "Workspace";

  id!: string;

  /** The database's id of the owner. */
  ownerId!: string;

  @Field(() => String, { description: "What its owner calls it." })
  name!: string;

  @Field(() => WorkspaceStatusEnum, { description: "How it stands." })
  status!: WorkspaceStatus;

  @Field(() => String, { nullable: true, description: "Why the last start or stop failed." })
  failure!: string | null;

  @Field(() => DateTimeScalar, { description: "When an agent last worked in it, to the minute." })
  lastUsedAt!: number;
}

export const WorkspaceConnection = connectionType(Workspace, "Workspace");
