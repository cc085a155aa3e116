/** Admins' changes of model providers and models, and what a provider has. */
import { Arg, Ctx, ID, Mutation, Query, Resolver } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import type { CommandResult } from "../../commands/chats/chat-commands.js";
import type { ModelChanged, ProviderChanged } from "../../commands/models/model-commands.js";
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

/** As much as any field that another server answers. */
const DISCOVERY_COST = 25;

@Resolver()
export class ModelAdminResolver {
  @Query(() => ModelDiscovery, {
    nullable: true,
    complexity: DISCOVERY_COST,
    description:
      "Asks a provider, in the viewer's name where people bring their own keys, which models it has. Null when there is no such provider. Admins only.",
  })
  async discoverModels(
    @Arg("providerId", () => ID, { description: "The provider; it may be disabled." }) id: string,
    @Ctx() context: Context,
  ): Promise<ModelDiscovery | null> {
    const providerId = databaseId("prov", id, "providerId");
    const found = await context.modelCommands.discoverModels(context.viewer, providerId);
    if (!found?.ok) return found && { models: null, failure: found.failure };
    const models = found.models.map((it) => ({ ...it, pricing: it.pricing && toPricing(it.pricing) }));
    return { models, failure: null };
  }

  @Mutation(() => CreateModelProviderPayload, {
    description: "Sets up a model provider. For admins; recorded in the audit log.",
  })
  async createModelProvider(
    @Arg("input", () => CreateModelProviderInput, { description: "The provider." })
    input: CreateModelProviderInput,
    @Ctx() context: Context,
  ): Promise<CreateModelProviderPayload> {
    const wanted = readNewProvider(input);
    return providerPayload(await context.modelCommands.createProvider(actorOf(context), wanted), context);
  }

  @Mutation(() => UpdateModelProviderPayload, {
    description:
      "Changes a model provider; turns that run go on with what they began with. One that came from the environment keeps what is changed here. For admins; recorded in the audit log.",
  })
  async updateModelProvider(
    @Arg("input", () => UpdateModelProviderInput, { description: "What to change." })
    input: UpdateModelProviderInput,
    @Ctx() context: Context,
  ): Promise<UpdateModelProviderPayload> {
    const providerId = databaseId("prov", input.providerId, "providerId");
    const change = { ...readProviderChange(input), providerId };
    return providerPayload(await context.modelCommands.updateProvider(actorOf(context), change), context);
  }

  @Mutation(() => DeleteModelProviderPayload, {
    description:
      "Deletes a model provider with its models, its key and everybody's own keys for it. What was said and spent keeps its name. Refused while one of its models is the default. For admins; recorded in the audit log.",
  })
  async deleteModelProvider(
    @Arg("input", () => DeleteModelProviderInput, { description: "Which one." })
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
    description: "Sets up a model of a provider. For admins; recorded in the audit log.",
  })
  async createModelConfig(
    @Arg("input", () => CreateModelConfigInput, { description: "The model." }) input: CreateModelConfigInput,
    @Ctx() context: Context,
  ): Promise<CreateModelConfigPayload> {
    const { providerId: id, ...rest } = input;
    const wanted = { ...readNewModel(rest), providerId: databaseId("prov", id, "providerId") };
    return modelPayload(await context.modelCommands.createModel(actorOf(context), wanted), context);
  }

  @Mutation(() => UpdateModelConfigPayload, {
    description:
      "Changes a model; turns that run go on with what they began with. For admins; recorded in the audit log.",
  })
  async updateModelConfig(
    @Arg("input", () => UpdateModelConfigInput, { description: "What to change." })
    input: UpdateModelConfigInput,
    @Ctx() context: Context,
  ): Promise<UpdateModelConfigPayload> {
    const modelConfigId = databaseId("model", input.modelConfigId, "modelConfigId");
    const change = { ...readModelChange(input), modelConfigId };
    return modelPayload(await context.modelCommands.updateModel(actorOf(context), change), context);
  }

  @Mutation(() => DeleteModelConfigPayload, {
    description:
      "Deletes a model. What was said and spent keeps its name; chats that had chosen it are answered by the default. The default itself is refused. For admins; recorded in the audit log.",
  })
  async deleteModelConfig(
    @Arg("input", () => DeleteModelConfigInput, { description: "Which one." }) input: DeleteModelConfigInput,
    @Ctx() context: Context,
  ): Promise<DeleteModelConfigPayload> {
    const modelConfigId = databaseId("model", input.modelConfigId, "modelConfigId");
    const result = await context.modelCommands.deleteModel(actorOf(context), modelConfigId);
    if (!result.ok) return { deletedId: null, userErrors: toUserErrors(result.refusal) };
    context.loaders.forget();
    return { deletedId: encodeId("model", result.modelConfigId), userErrors: [] };
  }
}

/** Several mutations of one operation each answer what they themselves left. */
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
