/** Refusals that a person can act on: the payloads' lane of errors. */
import { Field, InterfaceType, ObjectType } from "type-graphql";
import type { ChatStatus } from "../domain/chat-state.js";
import { ChatStatusEnum, type UserErrorCode, UserErrorCodeEnum } from "./enums.js";

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
    "The object was in a state that does not allow this action; or, by its code, a bound would be passed or the model cannot be asked.",
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
}
