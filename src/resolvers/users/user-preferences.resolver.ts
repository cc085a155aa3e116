/** The viewer's preferences. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import type { UpdatePreferencesInput } from "../../commands/users/update-preferences.js";
import { ModelConfig } from "../../schema/models/model.type.js";
import { SignedInViewer } from "../../schema/users/user.type.js";
import {
  UpdateUserPreferencesInput,
  UpdateUserPreferencesPayload,
  UserPreferences,
} from "../../schema/users/user-preferences.type.js";
import { readPreferences } from "../../store/users/users.js";
import type { Context } from "../common/context.js";
import { findModelConfig } from "../common/links.js";
import { databaseId } from "../common/public-ids.js";
import { toUserError } from "../common/user-errors.js";

@Resolver(() => SignedInViewer)
export class ViewerPreferencesResolver {
  @FieldResolver(() => UserPreferences, { description: "The viewer's preferences for all their chats." })
  preferences(@Ctx() { database, viewer }: Context): Promise<UserPreferences> {
    return readPreferences(database, viewer.userId);
  }

  @Mutation(() => UpdateUserPreferencesPayload, {
    description: "Changes the viewer's preferences, which apply to all their chats.",
  })
  async updateUserPreferences(
    @Arg("input", () => UpdateUserPreferencesInput, { description: "The parameters of the mutation." })
    input: UpdateUserPreferencesInput,
    @Ctx() { commands, viewer }: Context,
  ): Promise<UpdateUserPreferencesPayload> {
    const { customPrompt, defaultModelConfigId: modelId } = input;
    const wanted: UpdatePreferencesInput = {
      customPrompt: customPrompt === null ? "" : customPrompt,
      defaultModelConfigId: modelId == null ? modelId : databaseId("model", modelId, "defaultModelConfigId"),
    };
    const result = await commands.updatePreferences(viewer, wanted);
    if (!result.ok) return { preferences: null, userErrors: [toUserError(result.refusal)] };
    return { preferences: result.preferences, userErrors: [] };
  }
}

@Resolver(() => UserPreferences)
export class UserPreferencesResolver {
  @FieldResolver(() => ModelConfig, {
    nullable: true,
    description: "The model of new chats that choose none. Null for the deployment's default.",
  })
  defaultModelConfig(
    @Root() { defaultModelConfigId }: UserPreferences,
    @Ctx() context: Context,
  ): Promise<ModelConfig | null> | null {
    return findModelConfig(context, defaultModelConfigId);
  }
}
