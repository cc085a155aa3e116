/** Refusals that a person can act on: the payloads' lane of errors. */
import { Field, InterfaceType, ObjectType } from "type-graphql";
import type { ChatStatus } from "../../domain/chats/chat-state.js";
import type { WorkspaceStatus } from "../../domain/workspaces/workspace.js";
import { ChatStatusEnum, type UserErrorCode, UserErrorCodeEnum, WorkspaceStatusEnum } from "./enums.js";
import { BigIntScalar } from "../scalars/big-int.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { MicrosScalar } from "../scalars/micros.js";

@InterfaceType("UserError", {
  description:
    "A refusal that a well-behaved client can show to a person. Bugs and auth failures never appear here.",
})
export abstract class UserError {
  readonly __typename!: string;

  @Field(() => UserErrorCodeEnum, { description: "The kind of refusal." })
  code!: UserErrorCode;

  @Field(() => String, { description: "A sentence for people." })
  message!: string;

  @Field(() => [String], {
    nullable: true,
    description: "The field of `input` that is at fault, from its root: names, and list places from 0.",
  })
  path!: string[] | null;
}

@ObjectType("InvalidInput", {
  implements: UserError,
  simpleResolvers: true,
  description: "A value of the input cannot be used.",
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
  description: "The object does not exist, or is not the viewer's to see.",
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
    "The object was in a state that does not allow this action; or, by its code, a bound would be passed, or the model or the usage limit cannot be asked.",
})
export class Conflict implements UserError {
  readonly __typename!: "Conflict";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  @Field(() => ChatStatusEnum, {
    nullable: true,
    description: "The chat's status, when that is what conflicts.",
  })
  currentStatus!: ChatStatus | null;
}

@ObjectType("McpAuthRequired", {
  implements: UserError,
  simpleResolvers: true,
  description: "Tool servers that were named want the person's authorisation first; see `startMcpOauth`.",
})
export class McpAuthRequired implements UserError {
  readonly __typename!: "McpAuthRequired";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  /** Database ids. */
  serverIds!: readonly string[];
}

@ObjectType("ProviderKeyRequired", {
  implements: UserError,
  simpleResolvers: true,
  description:
    "The model's provider is asked with the own key of the person whose chat it is, and they have stored none; see `setViewerProviderKey`.",
})
export class ProviderKeyRequired implements UserError {
  readonly __typename!: "ProviderKeyRequired";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  /** The database's id. */
  providerId!: string;
}

@ObjectType("UsageLimitExceeded", {
  implements: UserError,
  simpleResolvers: true,
  description: "The chat's owner has spent what they may in this period. Nothing was changed.",
})
export class UsageLimitExceeded implements UserError {
  readonly __typename!: "UsageLimitExceeded";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  @Field(() => MicrosScalar, { description: "What they have spent in the period." })
  spentMicros!: bigint;

  @Field(() => MicrosScalar, { description: "What they may spend in it." })
  limitMicros!: bigint;

  @Field(() => DateTimeScalar, { description: "When the next period begins, with nothing spent." })
  resetsAt!: Date;
}

@ObjectType("StorageLimitExceeded", {
  implements: UserError,
  simpleResolvers: true,
  description:
    "The user whose chat or file it is stores as much as they may; see `User.storage`. Nothing was changed.",
})
export class StorageLimitExceeded implements UserError {
  readonly __typename!: "StorageLimitExceeded";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  @Field(() => BigIntScalar, { description: "Bytes that they store." })
  usedBytes!: bigint;

  @Field(() => BigIntScalar, { description: "Bytes that they may store." })
  limitBytes!: bigint;
}

@ObjectType("WorkspaceUnavailable", {
  implements: UserError,
  simpleResolvers: true,
  description: "The workspace cannot be reached or is not running.",
})
export class WorkspaceUnavailable implements UserError {
  readonly __typename!: "WorkspaceUnavailable";
  code!: UserErrorCode;
  message!: string;
  path!: string[] | null;

  @Field(() => WorkspaceStatusEnum, {
    nullable: true,
    description: "How the workspace stands, when that is known.",
  })
  workspaceStatus!: WorkspaceStatus | null;
}
