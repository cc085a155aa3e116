/** API tokens. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { TokenScope } from "../../domain/users/viewer.js";
import { TokenScopeEnum } from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("ApiToken", {
  implements: Node,
  simpleResolvers: true,
  description:
    "A personal access token for the API. The secret itself is shown only once, when the token is created.",
})
export class ApiToken implements Node {
  readonly __typename!: "ApiToken";

  id!: string;

  @Field(() => String, { description: "The token's name, chosen by its owner." })
  name!: string;

  @Field(() => [TokenScopeEnum], { description: "What the token may be used for." })
  scopes!: TokenScope[];

  @Field(() => DateTimeScalar, { description: "When the object was created." })
  createdAt!: Date;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "When the token was last used, accurate to the minute. Null if it has never been used.",
  })
  lastUsedAt!: Date | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "When the token expires. Null if it never expires.",
  })
  expiresAt!: Date | null;
}

@InputType("CreateApiTokenInput", { description: "Input of `createApiToken`." })
export class CreateApiTokenInput {
  @Field(() => String, { description: "The token's name: 1 to 100 characters." })
  name!: string;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the token expires; must be in the future. Null for no expiry. A token created with another token cannot outlive it.",
  })
  expiresAt?: number | null;

  @Field(() => [TokenScopeEnum], {
    nullable: true,
    description:
      "What the token may be used for. Defaults to the scopes of the viewer's current credential and cannot exceed them.",
  })
  scopes?: TokenScope[] | null;
}

@ObjectType("CreateApiTokenPayload", { simpleResolvers: true, description: "The new token." })
export class CreateApiTokenPayload {
  @Field(() => ApiToken, { nullable: true, description: "The token. Null if the mutation was refused." })
  token!: ApiToken | null;

  @Field(() => String, {
    nullable: true,
    description: "The secret to send as `Authorization: Bearer …`. Shown only once.",
  })
  secret!: string | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}

@InputType("RevokeApiTokenInput", { description: "Input of `revokeApiToken`." })
export class RevokeApiTokenInput {
  @Field(() => ID, { description: "The token. Must belong to the viewer." })
  tokenId!: string;
}

@ObjectType("RevokeApiTokenPayload", {
  simpleResolvers: true,
  description: "The result of `revokeApiToken`.",
})
export class RevokeApiTokenPayload {
  @Field(() => ID, {
    nullable: true,
    description: "ID of the revoked token. Null if the mutation was refused.",
  })
  deletedId!: string | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}
