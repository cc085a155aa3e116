/** Administration of model providers and models, and discovery of a provider's models. */
import { Arg, Ctx, ID, Mutation, Query, Resolver } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import type { CommandResult } from "../../commands/common/command-result.js";
import type { ModelChanged } from "../../commands/models/model-configs.js";
import type { ProviderChanged } from "../../commands/models/model-providers.js";
import { ModelDiscovery } from "../../schema/models/model-discovery.type.js";
import {
  CreateModelConfigInput,
  CreateModelProviderInput,
  DeleteModelConfigInput,
  DeleteModelProviderInput,
  UpdateModelConfigInput,
  UpdateModelProviderInput,
} from "../../schema/models/model.input.js";
import {
  CreateModelConfigPayload,
  CreateModelProviderPayload,
  DeleteModelConfigPayload,
  DeleteModelProviderPayload,
  UpdateModelConfigPayload,
  UpdateModelProviderPayload,
} from "../../schema/models/model.payloads.js";
import { actorOf, type Context } from "../common/context.js";
import { readModelChange, readNewModel, readNewProvider, readProviderChange } from "./model-inputs.js";
import { toModelConfig, toModelProvider, toPricing } from "./model-shape.js";
import { databaseId } from "../common/public-ids.js";
import { toUserErrors } from "../common/user-errors.js";

/** As much as any field that is answered by another server. */
const DISCOVERY_COST = 25;

@Resolver()
export class ModelAdminResolver {
  @Query(() => ModelDiscovery, {
    nullable: true,
    complexity: DISCOVERY_COST,
    description:
      "Asks a provider which models it offers; with the viewer's key if the provider uses users' own keys. Null if the provider does not exist. Admins only.",
  })
  async discoverModels(
    @Arg("providerId", () => ID, { description: "The provider. May be disabled." }) id: string,
    @Ctx() context: Context,
  ): Promise<ModelDiscovery | null> {
    const providerId = databaseId("prov", id, "providerId");
    const found = await context.modelCommands.discoverModels(context.viewer, providerId);
    if (!found?.ok) return found && { models: null, failure: found.failure };
    const models = found.models.map((it) => ({ ...it, pricing: it.pricing && toPricing(it.pricing) }));
    return { models, failure: null };
  }

  @Mutation(() => CreateModelProviderPayload, {
    description: "Adds a model provider. Admins only; recorded in the audit log.",
  })
  async createModelProvider(
    @Arg("input", () => CreateModelProviderInput, { description: "The parameters of the mutation." })
    input: CreateModelProviderInput,
    @Ctx() context: Context,
  ): Promise<CreateModelProviderPayload> {
    const wanted = readNewProvider(input);
    return providerPayload(await context.modelCommands.createProvider(actorOf(context), wanted), context);
  }

  @Mutation(() => UpdateModelProviderPayload, {
    description:
      "Changes a model provider. Running turns keep the previous settings. Changes to a provider that was set up from the environment are kept at the next start. Admins only; recorded in the audit log.",
  })
  async updateModelProvider(
    @Arg("input", () => UpdateModelProviderInput, { description: "The parameters of the mutation." })
    input: UpdateModelProviderInput,
    @Ctx() context: Context,
  ): Promise<UpdateModelProviderPayload> {
    const providerId = databaseId("prov", input.providerId, "providerId");
    const change = { ...readProviderChange(input), providerId };
    return providerPayload(await context.modelCommands.updateProvider(actorOf(context), change), context);
  }

  @Mutation(() => DeleteModelProviderPayload, {
    description:
      "Deletes a model provider with its models, its key and all users' keys for it. Past messages and costs keep its name. Refused while one of its models is the default. Admins only; recorded in the audit log.",
  })
  async deleteModelProvider(
    @Arg("input", () => DeleteModelProviderInput, { description: "The parameters of the mutation." })
    input: DeleteModelProviderInput,
    @Ctx() context: Context,
  ): Promise<DeleteModelProviderPayload> {
    const providerId = databaseId("prov", input.providerId, "providerId");
    const result = await context.modelCommands.deleteProvider(actorOf(context), providerId);
    if (!result.ok) return { deletedId: null, userErrors: toUserErrors(result.refusal) };
    context.loaders.forget();
    return { deletedId: encodeId("prov", result.providerId), userErrors: [] };
  }

  @Mutation(() => CreateModelConfigPayload, {
    description: "Adds a model to a provider. Admins only; recorded in the audit log.",
  })
  async createModelConfig(
    @Arg("input", () => CreateModelConfigInput, { description: "The parameters of the mutation." })
    input: CreateModelConfigInput,
    @Ctx() context: Context,
  ): Promise<CreateModelConfigPayload> {
    const { providerId: id, ...rest } = input;
    const wanted = { ...readNewModel(rest), providerId: databaseId("prov", id, "providerId") };
    return modelPayload(await context.modelCommands.createModel(actorOf(context), wanted), context);
  }

  @Mutation(() => UpdateModelConfigPayload, {
    description:
      "Changes a model. Running turns keep the previous settings. Admins only; recorded in the audit log.",
  })
  async updateModelConfig(
    @Arg("input", () => UpdateModelConfigInput, { description: "The parameters of the mutation." })
    input: UpdateModelConfigInput,
    @Ctx() context: Context,
  ): Promise<UpdateModelConfigPayload> {
    const modelConfigId = databaseId("model", input.modelConfigId, "modelConfigId");
    const change = { ...readModelChange(input), modelConfigId };
    return modelPayload(await context.modelCommands.updateModel(actorOf(context), change), context);
  }

  @Mutation(() => DeleteModelConfigPayload, {
    description:
      "Deletes a model. Past messages and costs keep its name; chats that had selected it use the default. The default itself cannot be deleted. Admins only; recorded in the audit log.",
  })
  async deleteModelConfig(
    @Arg("input", () => DeleteModelConfigInput, { description: "The parameters of the mutation." })
    input: DeleteModelConfigInput,
    @Ctx() context: Context,
  ): Promise<DeleteModelConfigPayload> {
    const modelConfigId = databaseId("model", input.modelConfigId, "modelConfigId");
    const result = await context.modelCommands.deleteModel(actorOf(context), modelConfigId);
    if (!result.ok) return { deletedId: null, userErrors: toUserErrors(result.refusal) };
    context.loaders.forget();
    return { deletedId: encodeId("model", result.modelConfigId), userErrors: [] };
  }
}

/** Each mutation of an operation returns the state that it left itself. */
export function providerPayload(
  result: CommandResult<ProviderChanged>,
  context: Context,
): CreateModelProviderPayload {
  if (!result.ok) return { provider: null, userErrors: toUserErrors(result.refusal) };
  context.loaders.forget();
  return { provider: toModelProvider(result.provider, context), userErrors: [] };
}

function modelPayload(result: CommandResult<ModelChanged>, context: Context): CreateModelConfigPayload {
  if (!result.ok) return { modelConfig: null, userErrors: toUserErrors(result.refusal) };
  context.loaders.forget();
  return { modelConfig: toModelConfig(result.modelConfig, context), userErrors: [] };
}
