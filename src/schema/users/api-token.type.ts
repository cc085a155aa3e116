/** Tokens by which programs speak for a person. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { TokenScope } from "../../domain/users/viewer.js";
import { TokenScopeEnum } from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("ApiToken", {
  implements: Node,
  simpleResolvers: true,
  description: "A token of the viewer's. The token itself was shown when it was made, and never again.",
})
export class ApiToken implements Node {
  readonly __typename!: "ApiToken";

  id!: string;

  @Field(() => String, { description: "What it is for, in the person's words." })
  name!: string;

  @Field(() => [TokenScopeEnum], { description: "What it may be used for." })
  scopes!: TokenScope[];

  @Field(() => DateTimeScalar, { description: "When it was made." })
  createdAt!: Date;

  @Field(() => DateTimeScalar, { nullable: true, description: "To the minute; null = it was not used yet." })
  lastUsedAt!: Date | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "From then on it does not count; null = it does not expire.",
  })
  expiresAt!: Date | null;
}

@InputType("CreateApiTokenInput", { description: "What a new token is to be." })
export class CreateApiTokenInput {
  @Field(() => String, { description: "What it is for; 1 to 100 characters." })
  name!: string;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When it stops to count, in the future; null = never. A token that makes another gives it no longer life than its own.",
  })
  expiresAt?: number | null;

  @Field(() => [TokenScopeEnum], {
    nullable: true,
    description:
      "What it may be used for; absent = whatever the viewer has shown allows. No more than that can be given.",
  })
  scopes?: TokenScope[] | null;
}

@ObjectType("CreateApiTokenPayload", { simpleResolvers: true, description: "The new token." })
export class CreateApiTokenPayload {
  @Field(() => ApiToken, { nullable: true, description: "Null when it was refused." })
  token!: ApiToken | null;

  @Field(() => String, {
    nullable: true,
    description: "What to send as `Authorization: Bearer …`. Shown now and never again.",
  })
  secret!: string | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}

@InputType("RevokeApiTokenInput", { description: "Which token to revoke." })
export class RevokeApiTokenInput {
  @Field(() => ID, { description: "One of the viewer's own." })
  tokenId!: string;
}

@ObjectType("RevokeApiTokenPayload", { simpleResolvers: true, description: "The token that was." })
export class RevokeApiTokenPayload {
  @Field(() => ID, { nullable: true, description: "Null when it was refused." })
  deletedId!: string | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}
