/** The viewer's tokens. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import {
  ApiToken,
  CreateApiTokenInput,
  CreateApiTokenPayload,
  RevokeApiTokenInput,
  RevokeApiTokenPayload,
} from "../../schema/users/api-token.type.js";
import { SignedInViewer } from "../../schema/users/user.type.js";
import { listTokens } from "../../store/users/tokens.js";
import type { Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";
import { toApiToken } from "../common/shapes.js";
import { toUserError } from "../common/user-errors.js";

@Resolver(() => SignedInViewer)
export class ApiTokenResolver {
  @FieldResolver(() => [ApiToken], {
    description: "Tokens by which programs speak for them, newest first; at most 100.",
  })
  async apiTokens(@Ctx() { database, viewer }: Context): Promise<ApiToken[]> {
    return (await listTokens(database, viewer.userId)).map(toApiToken);
  }

  @Mutation(() => CreateApiTokenPayload, {
    description:
      "Makes a token by which a program speaks for the viewer. It can do no more, and lives no longer, than the token that asks for it; a browser's session may give all that the person has.",
  })
  async createApiToken(
    @Arg("input", () => CreateApiTokenInput, { description: "What it is to be." })
    input: CreateApiTokenInput,
    @Ctx() { people, viewer }: Context,
  ): Promise<CreateApiTokenPayload> {
    const { name, expiresAt, scopes } = input;
    const result = await people.createApiToken(viewer, {
      name,
      ...(expiresAt != null && { expiresAt }),
      ...(scopes != null && { scopes }),
    });
    if (!result.ok) return { token: null, secret: null, userErrors: [toUserError(result.refusal)] };
    return { token: toApiToken(result.token), secret: result.secret, userErrors: [] };
  }

  @Mutation(() => RevokeApiTokenPayload, {
    description: "Takes a token's rights away for good. What is open with it is closed.",
  })
  async revokeApiToken(
    @Arg("input", () => RevokeApiTokenInput, { description: "Which one." })
    input: RevokeApiTokenInput,
    @Ctx() { people, viewer }: Context,
  ): Promise<RevokeApiTokenPayload> {
    const id = databaseId("token", input.tokenId, "tokenId");
    const result = await people.revokeApiToken(viewer, id);
    if (!result.ok) return { deletedId: null, userErrors: [toUserError(result.refusal)] };
    return { deletedId: encodeId("token", result.tokenId), userErrors: [] };
  }
}
