/** Users' own keys for model providers. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import { SetViewerProviderKeyInput } from "../../schema/models/model.input.js";
import { SetViewerProviderKeyPayload } from "../../schema/models/model.payloads.js";
import { ModelProvider } from "../../schema/models/model.type.js";
import { ProviderKeyRequired } from "../../schema/common/user-error.interface.js";
import type { Context } from "../common/context.js";
import { providerPayload } from "./model-admin.resolver.js";
import { readSecret } from "./model-inputs.js";
import { toModelProvider } from "./model-shape.js";
import { databaseId } from "../common/public-ids.js";

@Resolver(() => ModelProvider)
export class ProviderKeyResolver {
  @FieldResolver(() => Boolean, {
    description:
      "Whether the viewer has stored their own API key for the provider. Only used if `keyPolicy` allows it.",
  })
  hasViewerKey(@Root() { providerId }: ModelProvider, @Ctx() { loaders }: Context): Promise<boolean> {
    return loaders.hasProviderKey.load(providerId);
  }

  @Mutation(() => SetViewerProviderKeyPayload, {
    description:
      "Stores or deletes the viewer's own API key for a provider, which then pays for the turns of their chats.",
  })
  async setViewerProviderKey(
    @Arg("input", () => SetViewerProviderKeyInput, { description: "The parameters of the mutation." })
    input: SetViewerProviderKeyInput,
    @Ctx() context: Context,
  ): Promise<SetViewerProviderKeyPayload> {
    const providerId = databaseId("prov", input.providerId, "providerId");
    const wanted = { providerId, apiKey: readSecret(input.apiKey) };
    return providerPayload(await context.modelCommands.setPersonalKey(context.viewer, wanted), context);
  }
}

@Resolver(() => ProviderKeyRequired)
export class ProviderKeyRequiredResolver {
  @FieldResolver(() => ModelProvider, {
    nullable: true,
    description: "The provider that requires the key. Null if it no longer exists.",
  })
  async provider(
    @Root() { providerId }: ProviderKeyRequired,
    @Ctx() context: Context,
  ): Promise<ModelProvider | null> {
    const record = await context.loaders.providers.load(providerId);
    return record && toModelProvider(record, context);
  }
}
