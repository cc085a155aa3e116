/** The viewer's API tokens. */
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
    description: "The user's API tokens, newest first. At most 100.",
  })
  async apiTokens(@Ctx() { database, viewer }: Context): Promise<ApiToken[]> {
    return (await listTokens(database, viewer.userId)).map(toApiToken);
  }

  @Mutation(() => CreateApiTokenPayload, {
    description:
      "Creates an API token that acts on the viewer's behalf. It cannot exceed the scopes or lifetime of the token used to create it; a browser session can grant all of the user's rights.",
  })
  async createApiToken(
    @Arg("input", () => CreateApiTokenInput, { description: "The parameters of the mutation." })
    input: CreateApiTokenInput,
    @Ctx() { userCommands, viewer }: Context,
  ): Promise<CreateApiTokenPayload> {
    const { name, expiresAt, scopes } = input;
    const result = await userCommands.createApiToken(viewer, {
      name,
      ...(expiresAt != null && { expiresAt }),
      ...(scopes != null && { scopes }),
    });
    if (!result.ok) return { token: null, secret: null, userErrors: [toUserError(result.refusal)] };
    return { token: toApiToken(result.token), secret: result.secret, userErrors: [] };
  }

  @Mutation(() => RevokeApiTokenPayload, {
    description: "Revokes an API token permanently and closes the connections opened with it.",
  })
  async revokeApiToken(
    @Arg("input", () => RevokeApiTokenInput, { description: "The parameters of the mutation." })
    input: RevokeApiTokenInput,
    @Ctx() { userCommands, viewer }: Context,
  ): Promise<RevokeApiTokenPayload> {
    const id = databaseId("token", input.tokenId, "tokenId");
    const result = await userCommands.revokeApiToken(viewer, id);
    if (!result.ok) return { deletedId: null, userErrors: [toUserError(result.refusal)] };
    return { deletedId: encodeId("token", result.tokenId), userErrors: [] };
  }
}
