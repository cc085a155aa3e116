/** Errors that users can act on, returned in mutation payloads. */
import { Field, InterfaceType, ObjectType } from "type-graphql";
import type { ChatStatus } from "../../domain/chats/chat-state.js";
import type { WorkspaceStatus } from "../../domain/workspaces/workspace.js";
import { ChatStatusEnum, type UserErrorCode, UserErrorCodeEnum, WorkspaceStatusEnum } from "./enums.js";
import { BigIntScalar } from "../scalars/big-int.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { MicrosScalar } from "../scalars/micros.js";

@InterfaceType("UserError", {
  description:
    "A problem that the user can act on and that clients can display. Bugs and authentication failures are reported as GraphQL errors instead.",
})
export abstract class UserError {
  readonly __typename!: string;

  @Field(() => UserErrorCodeEnum, { description: "The kind of error." })
  code!: UserErrorCode;

  @Field(() => String, { description: "A message to show to the user." })
  message!: string;

  @Field(() => [String], {
    nullable: true,
    description:
      "Path of the invalid field, starting at the fields of `input`: field names, and list indices counted from 0.",
  })
  path!: string[] | null;
}

@ObjectType("InvalidInput", {
  implements: UserError,
  simpleResolvers: true,
  description: "An input value is invalid.",
})
export class InvalidInput implements UserError {
  readonly __typename!: "InvalidInput";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;
}

@ObjectType("NotFound", {
  implements: UserError,
  simpleResolvers: true,
  description: "The object does not exist or is not visible to the viewer.",
})
export class NotFound implements UserError {
  readonly __typename!: "NotFound";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;
}

@ObjectType("Conflict", {
  implements: UserError,
  simpleResolvers: true,
  description:
    "The object's state does not allow the action. `code` tells whether a limit would be exceeded or the model or the usage limit is unavailable.",
})
export class Conflict implements UserError {
  readonly __typename!: "Conflict";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  @Field(() => ChatStatusEnum, {
    nullable: true,
    description: "The chat's current status, if it caused the conflict.",
  })
  currentStatus!: ChatStatus | null;
}

@ObjectType("McpAuthRequired", {
  implements: UserError,
  simpleResolvers: true,
  description: "The selected MCP servers must be authorized by the user first; see `startMcpOauth`.",
})
export class McpAuthRequired implements UserError {
  readonly __typename!: "McpAuthRequired";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  /** Database IDs. */
  serverIds!: readonly string[];
}

@ObjectType("ProviderKeyRequired", {
  implements: UserError,
  simpleResolvers: true,
  description:
    "The model's provider requires an API key of the chat's owner, who has not stored one; see `setViewerProviderKey`.",
})
export class ProviderKeyRequired implements UserError {
  readonly __typename!: "ProviderKeyRequired";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  /** Database ID. */
  providerId!: string;
}

@ObjectType("UsageLimitExceeded", {
  implements: UserError,
  simpleResolvers: true,
  description: "The chat's owner has reached their spending limit for this period. Nothing was changed.",
})
export class UsageLimitExceeded implements UserError {
  readonly __typename!: "UsageLimitExceeded";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  @Field(() => MicrosScalar, { description: "The amount spent in this period." })
  spentMicros!: bigint;

  @Field(() => MicrosScalar, { description: "The limit for the period." })
  limitMicros!: bigint;

  @Field(() => DateTimeScalar, { description: "When the next period starts." })
  resetsAt!: Date;
}

@ObjectType("StorageLimitExceeded", {
  implements: UserError,
  simpleResolvers: true,
  description:
    "The owner of the chat or file has reached their storage limit; see `User.storage`. Nothing was changed.",
})
export class StorageLimitExceeded implements UserError {
  readonly __typename!: "StorageLimitExceeded";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  @Field(() => BigIntScalar, { description: "The storage in use in bytes." })
  usedBytes!: bigint;

  @Field(() => BigIntScalar, { description: "The limit in bytes." })
  limitBytes!: bigint;
}

@ObjectType("WorkspaceUnavailable", {
  implements: UserError,
  simpleResolvers: true,
  description: "The workspace is not running or cannot be reached.",
})
export class WorkspaceUnavailable implements UserError {
  readonly __typename!: "WorkspaceUnavailable";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  @Field(() => WorkspaceStatusEnum, {
    nullable: true,
    description: "The workspace's status, if known.",
  })
  workspaceStatus!: WorkspaceStatus | null;
}
