/** Reading model providers and models. */
import { Arg, Ctx, FieldResolver, Query, Resolver, Root } from "type-graphql";
import { ModelConfig, ModelProvider } from "../schema/model.type.js";
import { listModelConfigs, listProviders } from "../store/models.js";
import type { Context } from "./context.js";
import { toModelConfig, toModelProvider } from "./shapes.js";

@Resolver(() => ModelProvider)
export class ModelProviderResolver {
  @Query(() => [ModelProvider], { description: "All providers, oldest first." })
  async modelProviders(@Ctx() context: Context): Promise<ModelProvider[]> {
    const records = await listProviders(context.database);
    return records.map((record) => toModelProvider(record, context));
  }

  @FieldResolver(() => [ModelConfig], { description: "Its models, oldest first, disabled ones too." })
  async models(@Root() provider: ModelProvider, @Ctx() context: Context): Promise<ModelConfig[]> {
    const records = await context.loaders.configsOfProviders.load(provider.providerId);
    return records.map(toModelConfig);
  }
}

@Resolver(() => ModelConfig)
export class ModelConfigResolver {
  @Query(() => [ModelConfig], { description: "The models that chats may use, oldest first." })
  async modelConfigs(
    @Arg("includeDisabled", () => Boolean, {
      nullable: true,
      defaultValue: false,
      description: "Also those that are switched off, by themselves or with their provider.",
    })
    includeDisabled: boolean | null,
    @Ctx() context: Context,
  ): Promise<ModelConfig[]> {
    const records = await listModelConfigs(context.database, { includeDisabled: includeDisabled ?? false });
    return records.map(toModelConfig);
  }

  @FieldResolver(() => ModelProvider, { description: "Whose endpoint it is asked through." })
  async provider(@Root() config: ModelConfig, @Ctx() context: Context): Promise<ModelProvider> {
    const record = await context.loaders.providers.load(config.providerId);
    if (!record) throw new Error(`Provider ${config.providerId} is linked to but does not exist.`);
    return toModelProvider(record, context);
  }
}
