/** The audit log: what admins and the operator did. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { AuditAction, AuditTargetKind } from "../../domain/users/audit.js";
import type { JsonValue } from "../../domain/common/json.js";
import { connectionType } from "../common/connection.js";
import { DateRangeInput } from "../usage/date-range.input.js";
import { describeEnum } from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { JsonScalar } from "../scalars/json.js";

export const AuditActionEnum = describeEnum<AuditAction>(
  "AuditAction",
  "What was done. May grow: show what you do not know as it is.",
  {
    mcp_server_created: "A tool server was registered.",
    mcp_server_updated: "A tool server's settings or secrets were changed.",
    mcp_server_tested: "A tool server was tried out, as the admin.",
    mcp_server_deleted: "A tool server was taken away, with everybody's authorisations for it.",
    model_provider_created: "A model provider was set up.",
    model_provider_updated: "A model provider's settings or key were changed.",
    model_provider_deleted: "A model provider was taken away, with its models and everybody's keys for it.",
    model_config_created: "A model was set up.",
    model_config_updated: "A model's settings were changed.",
    model_config_deleted: "A model was taken away.",
    user_created: "A person got an account.",
    user_updated: "A person's account was changed.",
    user_role_changed: "A person may do more or less than before.",
    user_deactivated: "A person was locked out.",
    user_reactivated: "A person who was locked out was let in again.",
    api_token_created: "An API token was made for a person on the server's machine.",
    usage_limit_policy_updated: "What everybody may spend was changed.",
    user_usage_limit_set: "A person got a limit of their own.",
    user_usage_limit_cleared: "A person's own limit was taken away.",
    user_storage_limit_set: "A user got a storage limit of their own, or none.",
    user_storage_limit_cleared: "A user's own storage limit was taken away.",
    workspace_created: "An external workspace was made.",
    workspace_token_replaced: "An external workspace's agent needs a new token.",
    workspace_removed: "An external workspace was taken away.",
    workspace_template_created: "A template of workspaces was set up.",
    workspace_template_updated: "A template's settings were changed.",
    workspace_template_deleted: "A template of workspaces was taken away.",
    secrets_rotated: "Secrets at rest were encrypted with another key.",
    deployment_updated: "What is set for everybody was changed.",
    chat_read: "An admin read, followed or changed somebody else's chat; told once an hour.",
    file_read: "An admin fetched a file of somebody else's; told once an hour.",
    chats_listed: "An admin listed somebody else's chats without their contents; told once an hour.",
    model_calls_read:
      "An admin read what models were asked and answered for somebody else's chat; told once an hour.",
  },
);

export const AuditTargetKindEnum = describeEnum<AuditTargetKind>(
  "AuditTargetKind",
  "What kind of thing something was done to. May grow: show what you do not know as it is.",
  {
    mcp_server: "A tool server.",
    model_provider: "A model provider.",
    model_config: "A model.",
    user: "A person.",
    usage_limits: "The limits of what everybody may spend.",
    workspace: "A workspace.",
    workspace_template: "A template of workspaces.",
    secrets: "The secrets at rest, all of them.",
    deployment: "What is set for everybody.",
    chat: "A chat.",
    file: "A file.",
  },
);

@ObjectType("AuditChange", {
  simpleResolvers: true,
  description: "What became of one field. Of secrets no value is ever told.",
})
export class AuditChange {
  @Field(() => String, { description: "Its name in the input that changes it." })
  field!: string;

  @Field(() => JsonScalar, {
    nullable: true,
    description: "What it was; null where there was nothing, and for secrets. Long values are cut.",
  })
  before!: JsonValue;

  @Field(() => JsonScalar, {
    nullable: true,
    description:
      "What it became; null where there is nothing any more, and for secrets. Long values are cut.",
  })
  after!: JsonValue;

  @Field(() => Boolean, { description: "Whether its values are nobody's to see." })
  isSecret!: boolean;

  @Field(() => Boolean, {
    nullable: true,
    description: "Of a secret: whether it was given, or taken away. Null for other fields.",
  })
  isSet!: boolean | null;
}

@ObjectType("AuditLogEntry", {
  implements: Node,
  simpleResolvers: true,
  description: "One thing that an admin or the server's operator did. It is never changed.",
})
export class AuditLogEntry implements Node {
  readonly __typename!: "AuditLogEntry";

  id!: string;

  /** Null = the operator. */
  actorId!: string | null;

  @Field(() => DateTimeScalar, { description: "When it was done." })
  createdAt!: Date;

  @Field(() => DateTimeScalar, {
    description: "When it was done.",
    deprecationReason: "Use `createdAt`. Removed after 2027-03-31.",
  })
  at!: Date;

  @Field(() => String, {
    description: "The username of who did it, as it was then; `operator` on the machine.",
  })
  actorName!: string;

  @Field(() => AuditActionEnum, { description: "What was done." })
  action!: AuditAction;

  @Field(() => AuditTargetKindEnum, { description: "What kind of thing it was done to." })
  targetKind!: AuditTargetKind;

  @Field(() => ID, {
    nullable: true,
    description:
      "The id of what it was done to, which may be gone; null where there is only one of the kind.",
  })
  targetId!: string | null;

  @Field(() => String, { nullable: true, description: "What that was called then." })
  targetName!: string | null;

  @Field(() => [AuditChange], { description: "The fields that became different, by name." })
  changes!: AuditChange[];

  @Field(() => String, {
    nullable: true,
    description: "Ties it to the server's log; null for what was done on the machine.",
  })
  requestId!: string | null;
}

export const AuditLogEntryConnection = connectionType(AuditLogEntry, "AuditLogEntry");

@InputType("AuditLogFilterInput", { description: "Which entries; what is absent or null lets all through." })
export class AuditLogFilterInput {
  @Field(() => ID, { nullable: true, description: "Done by this person." })
  actorId?: string | null;

  @Field(() => [AuditActionEnum], { nullable: true, description: "One of these." })
  actions?: AuditAction[] | null;

  @Field(() => AuditTargetKindEnum, { nullable: true, description: "Done to a thing of this kind." })
  targetKind?: AuditTargetKind | null;

  @Field(() => ID, { nullable: true, description: "Done to this one, which may be gone." })
  targetId?: string | null;

  @Field(() => DateRangeInput, { nullable: true, description: "Done in this time." })
  range?: DateRangeInput | null;
}
