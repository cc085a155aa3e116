/** Queries for model providers and models. */
import { Arg, Ctx, FieldResolver, Query, Resolver, Root } from "type-graphql";
import { capabilitiesOf, type ModelCapability } from "../../domain/models/model-capabilities.js";
import { ModelCapabilityEnum, ModelConfig, ModelProvider } from "../../schema/models/model.type.js";
import { listModelConfigs, listProviders, type ProviderRecord } from "../../store/models/models.js";
import type { Context } from "../common/context.js";
import { toModelConfig, toModelProvider } from "./model-shape.js";

@Resolver(() => ModelProvider)
export class ModelProviderResolver {
  @Query(() => [ModelProvider], { description: "All model providers, oldest first." })
  async modelProviders(@Ctx() context: Context): Promise<ModelProvider[]> {
    const records = await listProviders(context.database);
    return records.map((record) => toModelProvider(record, context));
  }

  @FieldResolver(() => [ModelConfig], {
    description: "The provider's models, oldest first, including disabled ones.",
  })
  async models(@Root() provider: ModelProvider, @Ctx() context: Context): Promise<ModelConfig[]> {
    const records = await context.loaders.configsOfProviders.load(provider.providerId);
    return records.map((record) => toModelConfig(record, context));
  }
}

@Resolver(() => ModelConfig)
export class ModelConfigResolver {
  @Query(() => [ModelConfig], { description: "The models that chats may use, oldest first." })
  async modelConfigs(
    @Arg("includeDisabled", () => Boolean, {
      nullable: true,
      defaultValue: false,
      description: "Whether to include models that are disabled or whose provider is disabled.",
    })
    includeDisabled: boolean | null,
    @Ctx() context: Context,
  ): Promise<ModelConfig[]> {
    const records = await listModelConfigs(context.database, { includeDisabled: includeDisabled ?? false });
    return records.map((record) => toModelConfig(record, context));
  }

  @FieldResolver(() => ModelProvider, { description: "The provider the model is called through." })
  async provider(@Root() config: ModelConfig, @Ctx() context: Context): Promise<ModelProvider> {
    return toModelProvider(await findProvider(config, context), context);
  }

  @FieldResolver(() => [ModelCapabilityEnum], {
    description:
      "The model's capabilities, derived from its name and options. Unknown models are assumed to have all of them.",
  })
  async capabilities(@Root() config: ModelConfig, @Ctx() context: Context): Promise<ModelCapability[]> {
    const { kind } = await findProvider(config, context);
    return capabilitiesOf({ kind, model: config.model, options: config.options });
  }
}

async function findProvider({ providerId }: ModelConfig, { loaders }: Context): Promise<ProviderRecord> {
  const record = await loaders.providers.load(providerId);
  if (!record) throw new Error(`Provider ${providerId} is linked to but does not exist.`);
  return record;
}
