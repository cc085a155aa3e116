/** What a provider's own list of models tells. */
import { Field, Int, ObjectType } from "type-graphql";
import type { DiscoveryFailureKind } from "../../domain/models/model-discovery.js";
import { describeEnum } from "../common/enums.js";
import { ModelPricing } from "./model.type.js";

export const ModelDiscoveryFailureKindEnum = describeEnum<DiscoveryFailureKind>(
  "ModelDiscoveryFailureKind",
  "Why a provider's models are not known. May grow: treat what you do not know as REFUSED.",
  {
    unsupported: "There is no list that could be asked for.",
    missing_key: "There is no key to ask with.",
    unauthorized: "The provider does not take the key.",
    blocked: "Parley does not let requests out to its address.",
    timeout: "It did not tell its whole list in time, or the list is too long.",
    unreachable: "There is no line to it, or the line broke.",
    refused: "It answers with an error, or with something else than a list of models.",
  },
);

@ObjectType("ModelDiscoveryFailure", {
  simpleResolvers: true,
  description: "Why a provider's models are not known.",
})
export class ModelDiscoveryFailure {
  @Field(() => ModelDiscoveryFailureKindEnum, { description: "What kind of failure it is." })
  kind!: DiscoveryFailureKind;

  @Field(() => String, { description: "For people; without secrets." })
  message!: string;
}

@ObjectType("DiscoveredModel", {
  simpleResolvers: true,
  description: "A model that a provider has, with what is known of it beforehand.",
})
export class DiscoveredModel {
  @Field(() => String, { description: "The vendor's own id of the model." })
  model!: string;

  @Field(() => String, { description: "The vendor's name for it; its id where there is none." })
  displayName!: string;

  @Field(() => Int, {
    nullable: true,
    description:
      "Tokens that fit into one call, by the list or else Parley's table of known models; null = neither says.",
  })
  contextLimit!: number | null;

  @Field(() => ModelPricing, {
    nullable: true,
    description: "Its maker's list price by Parley's table of known models; null = not in it.",
  })
  pricing!: ModelPricing | null;

  @Field(() => Boolean, { description: "Whether the provider has a model of this id set up already." })
  isConfigured!: boolean;
}

@ObjectType("ModelDiscovery", {
  simpleResolvers: true,
  description: "A question to a provider which models it has; within 10 seconds.",
})
export class ModelDiscovery {
  @Field(() => [DiscoveredModel], {
    nullable: true,
    description: "In the provider's order, at most 2,000; null when they are not known.",
  })
  models!: DiscoveredModel[] | null;

  @Field(() => ModelDiscoveryFailure, {
    nullable: true,
    description: "Why they are not known; null when they are.",
  })
  failure!: ModelDiscoveryFailure | null;
}
