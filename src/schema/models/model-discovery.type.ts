/** The models listed by a provider. */
import { Field, Int, ObjectType } from "type-graphql";
import type { DiscoveryFailureKind } from "../../domain/models/model-discovery.js";
import { describeEnum } from "../common/enums.js";
import { ModelPricing } from "./model.type.js";

export const ModelDiscoveryFailureKindEnum = describeEnum<DiscoveryFailureKind>(
  "ModelDiscoveryFailureKind",
  "Why a provider's models could not be listed. New values may be added: treat unknown ones as REFUSED.",
  {
    unsupported: "The provider has no API to list its models.",
    missing_key: "There is no API key for the provider.",
    unauthorized: "The provider rejected the API key.",
    blocked: "Parley blocks requests to this address.",
    timeout: "The provider did not return the complete list in time, or the list is too long.",
    unreachable: "The connection could not be established, or it was lost.",
    refused: "The provider responded with an error, or with something other than a list of models.",
  },
);

@ObjectType("ModelDiscoveryFailure", {
  simpleResolvers: true,
  description: "Why a provider's models could not be listed.",
})
export class ModelDiscoveryFailure {
  @Field(() => ModelDiscoveryFailureKindEnum, { description: "The kind of failure." })
  kind!: DiscoveryFailureKind;

  @Field(() => String, { description: "A message to display. Contains no secrets." })
  message!: string;
}

@ObjectType("DiscoveredModel", {
  simpleResolvers: true,
  description: "A model offered by a provider, with what is known about it.",
})
export class DiscoveredModel {
  @Field(() => String, { description: "The vendor's ID of the model." })
  model!: string;

  @Field(() => String, { description: "The vendor's display name of the model, or else its ID." })
  displayName!: string;

  @Field(() => Int, {
    nullable: true,
    description:
      "Size of the context window in tokens, according to the provider or Parley's table of known models. Null if unknown.",
  })
  contextLimit!: number | null;

  @Field(() => ModelPricing, {
    nullable: true,
    description:
      "The maker's list price according to Parley's table of known models. Null if it is not listed.",
  })
  pricing!: ModelPricing | null;

  @Field(() => Boolean, { description: "Whether the provider already has a model config for this model." })
  isConfigured!: boolean;
}

@ObjectType("ModelDiscovery", {
  simpleResolvers: true,
  description: "The result of asking a provider for its models, within 10 seconds.",
})
export class ModelDiscovery {
  @Field(() => [DiscoveredModel], {
    nullable: true,
    description: "The models in the provider's order, at most 2,000. Null if unknown.",
  })
  models!: DiscoveredModel[] | null;

  @Field(() => ModelDiscoveryFailure, {
    nullable: true,
    description: "Why the models are unknown. Null on success.",
  })
  failure!: ModelDiscoveryFailure | null;
}
