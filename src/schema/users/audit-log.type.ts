/** The audit log of admins' and operators' actions. */
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
  "An action recorded in the audit log. New values may be added: show unknown ones as they are.",
  {
    mcp_server_created: "An MCP server was registered.",
    mcp_server_updated: "An MCP server's settings or secrets were changed.",
    mcp_server_tested: "An admin tested the connection to an MCP server.",
    mcp_server_deleted: "An MCP server was deleted, together with all users' authorizations for it.",
    model_provider_created: "A model provider was added.",
    model_provider_updated: "A model provider's settings or key were changed.",
    model_provider_deleted:
      "A model provider was deleted, together with its models and all users' keys for it.",
    model_config_created: "A model was added.",
    model_config_updated: "A model's settings were changed.",
    model_config_deleted: "A model was deleted.",
    user_created: "A user account was created.",
    user_updated: "A user account was changed.",
    user_role_changed: "A user's role was changed.",
    user_deactivated: "A user account was deactivated.",
    user_reactivated: "A user account was reactivated.",
    api_token_created: "An API token was created for a user on the server's command line.",
    usage_limit_policy_updated: "The deployment's spending limits were changed.",
    user_usage_limit_set: "A user was given a spending limit of their own.",
    user_usage_limit_cleared: "A user's own spending limit was removed.",
    user_storage_limit_set: "A user was given a storage limit of their own, or an unlimited one.",
    user_storage_limit_cleared: "A user's own storage limit was removed.",
    workspace_created: "An external workspace was created.",
    workspace_token_replaced: "The token of an external workspace's agent was replaced.",
    workspace_removed: "An external workspace was removed.",
    workspace_mcp_server_allowed: "A user allowed an MCP server of a workspace's `.mcp.json`.",
    workspace_mcp_server_forbidden: "A user took back the permission for an MCP server of a workspace.",
    workspace_template_created: "A workspace template was created.",
    workspace_template_updated: "A workspace template's settings were changed.",
    workspace_template_deleted: "A workspace template was deleted.",
    secrets_rotated: "Stored secrets were re-encrypted with another key.",
    deployment_updated: "The deployment's settings were changed.",
    chat_read: "An admin read, followed or changed another user's chat. Recorded at most once an hour.",
    file_read: "An admin downloaded another user's file. Recorded at most once an hour.",
    chats_listed:
      "An admin listed another user's chats, without their contents. Recorded at most once an hour.",
    model_calls_read:
      "An admin read the recorded model calls of another user's chat. Recorded at most once an hour.",
  },
);

export const AuditTargetKindEnum = describeEnum<AuditTargetKind>(
  "AuditTargetKind",
  "The kind of object an action was performed on. New values may be added: show unknown ones as they are.",
  {
    mcp_server: "An MCP server.",
    model_provider: "A model provider.",
    model_config: "A model.",
    user: "A user.",
    usage_limits: "The deployment's spending limits.",
    workspace: "A workspace.",
    workspace_template: "A workspace template.",
    secrets: "All stored secrets.",
    deployment: "The deployment's settings.",
    chat: "A chat.",
    file: "A file.",
  },
);

@ObjectType("AuditChange", {
  simpleResolvers: true,
  description: "The change of one field. Values of secrets are never recorded.",
})
export class AuditChange {
  @Field(() => String, { description: "The field's name in the input of the mutation." })
  field!: string;

  @Field(() => JsonScalar, {
    nullable: true,
    description:
      "The value before the change. Null if the field was empty, and for secrets. Long values are truncated.",
  })
  before!: JsonValue;

  @Field(() => JsonScalar, {
    nullable: true,
    description:
      "The value after the change. Null if the field was cleared, and for secrets. Long values are truncated.",
  })
  after!: JsonValue;

  @Field(() => Boolean, {
    description: "Whether the field is a secret, so that its values are not recorded.",
  })
  isSecret!: boolean;

  @Field(() => Boolean, {
    nullable: true,
    description: "For secrets: whether the secret was set (true) or cleared (false). Null for other fields.",
  })
  isSet!: boolean | null;
}

@ObjectType("AuditLogEntry", {
  implements: Node,
  simpleResolvers: true,
  description: "An action performed by an admin or by the server's operator. Entries never change.",
})
export class AuditLogEntry implements Node {
  readonly __typename!: "AuditLogEntry";

  id!: string;

  /** Null for the operator. */
  actorId!: string | null;

  @Field(() => DateTimeScalar, { description: "When the action was performed." })
  createdAt!: Date;

  @Field(() => DateTimeScalar, {
    description: "When the action was performed.",
    deprecationReason: "Use `createdAt`. Removed after 2027-03-31.",
  })
  at!: Date;

  @Field(() => String, {
    description: "The actor's username at that time; `operator` for actions on the server's command line.",
  })
  actorName!: string;

  @Field(() => AuditActionEnum, { description: "The action." })
  action!: AuditAction;

  @Field(() => AuditTargetKindEnum, { description: "The kind of object the action was performed on." })
  targetKind!: AuditTargetKind;

  @Field(() => ID, {
    nullable: true,
    description:
      "ID of the object the action was performed on; it may no longer exist. Null if there is only one object of this kind.",
  })
  targetId!: string | null;

  @Field(() => String, { nullable: true, description: "The object's name at that time." })
  targetName!: string | null;

  @Field(() => [AuditChange], { description: "The fields that were changed, sorted by name." })
  changes!: AuditChange[];

  @Field(() => String, {
    nullable: true,
    description: "ID of the request, as in the server's log. Null for actions on the server's command line.",
  })
  requestId!: string | null;
}

export const AuditLogEntryConnection = connectionType(AuditLogEntry, "AuditLogEntry");

@InputType("AuditLogFilterInput", {
  description:
    "Filters for audit log entries. All given filters must match; an absent or null filter matches everything.",
})
export class AuditLogFilterInput {
  @Field(() => ID, { nullable: true, description: "Only entries of this actor." })
  actorId?: string | null;

  @Field(() => [AuditActionEnum], { nullable: true, description: "Only entries with one of these actions." })
  actions?: AuditAction[] | null;

  @Field(() => AuditTargetKindEnum, {
    nullable: true,
    description: "Only entries about objects of this kind.",
  })
  targetKind?: AuditTargetKind | null;

  @Field(() => ID, {
    nullable: true,
    description: "Only entries about this object, which may no longer exist.",
  })
  targetId?: string | null;

  @Field(() => DateRangeInput, { nullable: true, description: "Only entries in this time range." })
  range?: DateRangeInput | null;
}
