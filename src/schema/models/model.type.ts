/** Model providers and models. */
import { Field, Int, ObjectType } from "type-graphql";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { ModelCapability } from "../../domain/models/model-capabilities.js";
import type { KeyPolicy } from "../../domain/models/model-keys.js";
import type { OpenaiApi } from "../../domain/models/model-provider-rules.js";
import { describeEnum, ModelProviderKindEnum } from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { DecimalScalar } from "../scalars/decimal.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { JsonScalar } from "../scalars/json.js";
import { UrlScalar } from "../scalars/url.js";

export const KeyPolicyEnum = describeEnum<KeyPolicy>("KeyPolicy", "Whose key pays for model calls.", {
  deployment: "The deployment's key.",
  user: "The key of the chat's owner. Their turns are refused if they have none.",
  user_then_deployment: "The key of the chat's owner, or the deployment's if they have none.",
});

export const OpenaiApiEnum = describeEnum<OpenaiApi>("OpenaiApi", "One of OpenAI's APIs.", {
  responses: "The Responses API.",
  chat: "The Chat Completions API, which most compatible servers provide.",
});

export const ModelCapabilityEnum = describeEnum<ModelCapability>(
  "ModelCapability",
  "A capability of a model. New values may be added: ignore unknown ones.",
  {
    reasoning: "The model supports reasoning, controlled by `reasoningEffort`.",
    images: "The model accepts images.",
    web_search: "The model can search the web through its vendor.",
    computer_use: "The model can operate a computer's screen, mouse and keyboard.",
  },
);

@ObjectType("ModelProviderAdmin", {
  simpleResolvers: true,
  description: "A model provider's settings for admins.",
})
export class ModelProviderAdmin {
  @Field(() => OpenaiApiEnum, {
    nullable: true,
    description: "Which of OpenAI's APIs is used. Null for other vendors.",
  })
  openaiApi!: OpenaiApi | null;

  @Field(() => Boolean, {
    description:
      "Whether a base URL set by an admin may be on the local machine or in a private network. A base URL from the environment is not restricted.",
  })
  isPrivateNetworkAllowed!: boolean;

  @Field(() => Boolean, {
    description:
      "Whether the environment contains an API key for the provider. It is used unless another one is stored.",
  })
  hasEnvironmentKey!: boolean;

  @Field(() => Boolean, {
    description:
      "Whether the base URL is set from the environment at each start. False once an admin has changed it.",
  })
  isBaseUrlFromEnvironment!: boolean;
}

@ObjectType("ModelProvider", {
  implements: Node,
  simpleResolvers: true,
  description: "An API that models are called through. Keys are never shown.",
})
export class ModelProvider implements Node {
  readonly __typename!: "ModelProvider";

  id!: string;

  /** Database ID. */
  providerId!: string;

  @Field(() => ModelProviderKindEnum, { description: "The wire format of the provider's API." })
  kind!: ModelProviderKind;

  @Field(() => String, { description: "The display name." })
  displayName!: string;

  @Field(() => Boolean, { description: "Whether the provider's models may be used." })
  isEnabled!: boolean;

  @Field(() => Boolean, {
    description: "Whether the server has an API key for the provider. False for a provider that needs none.",
  })
  hasApiKey!: boolean;

  @Field(() => KeyPolicyEnum, { description: "Whose key pays for model calls." })
  keyPolicy!: KeyPolicy;

  @Field(() => Boolean, {
    description:
      "Whether the provider was deleted. Deleted providers only appear in past messages and costs.",
  })
  isDeleted!: boolean;

  @Field(() => DateTimeScalar, { description: "When it was added." })
  createdAt!: Date;

  @Field(() => ModelProviderAdmin, {
    nullable: true,
    description: "Settings for admins. Null unless the viewer is an admin.",
  })
  admin!: ModelProviderAdmin | null;

  @Field(() => UrlScalar, {
    nullable: true,
    description:
      "The API's base URL, without credentials. Null for the vendor's own, and unless the viewer is an admin.",
  })
  baseUrl!: string | null;
}

@ObjectType("ModelPricing", {
  simpleResolvers: true,
  description: "Prices in US dollars per million tokens.",
})
export class ModelPricing {
  @Field(() => DecimalScalar, { description: "Input tokens, excluding cache reads and writes." })
  input!: string;

  @Field(() => DecimalScalar, { description: "Output tokens, including reasoning." })
  output!: string;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: "Price of input tokens read from the vendor's cache. Null if they are free.",
  })
  cacheRead!: string | null;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: "Price of input tokens written to the vendor's cache. Null if they are free.",
  })
  cacheWrite!: string | null;
}

@ObjectType("ModelConfig", {
  implements: Node,
  simpleResolvers: true,
  description: "A model of a provider that users can choose.",
})
export class ModelConfig implements Node {
  readonly __typename!: "ModelConfig";

  id!: string;

  /** Database ID of the provider. */
  providerId!: string;

  /** The provider options, regardless of the viewer's rights. */
  options!: JsonObject;

  @Field(() => String, { description: "The vendor's ID of the model." })
  model!: string;

  @Field(() => String, { description: "The display name." })
  displayName!: string;

  @Field(() => Boolean, {
    description: "Whether chats may use the model. Its provider must be enabled, too.",
  })
  isEnabled!: boolean;

  @Field(() => Boolean, {
    description: "Whether chats that choose no model use this one. Exactly one model is the default.",
  })
  isDefault!: boolean;

  @Field(() => Int, {
    nullable: true,
    description:
      "Size of the context window in tokens. Null if unknown; it is then learned from the vendor's responses.",
  })
  contextLimit!: number | null;

  @Field(() => ModelPricing, {
    nullable: true,
    description: "The price of future calls. Null if unknown.",
  })
  pricing!: ModelPricing | null;

  @Field(() => Int, {
    description: "Share of the context window, in percent, at which the history is compacted.",
  })
  compactionThresholdPercent!: number;

  @Field(() => Int, {
    nullable: true,
    description:
      "Maximum number of output tokens per response set by an admin. Null for the deployment's default, capped by the model's own limit.",
  })
  maxOutputTokens!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "The model's own maximum number of output tokens per response. Null if unknown; it is then learned from the vendor's errors.",
  })
  outputLimit!: number | null;

  @Field(() => JsonScalar, {
    nullable: true,
    description: "Options sent with each call. Null unless the viewer is an admin.",
  })
  providerOptions!: JsonObject | null;

  @Field(() => Boolean, {
    description:
      "Whether the model or its provider was deleted. Deleted models only appear in past messages and costs.",
  })
  isDeleted!: boolean;

  @Field(() => DateTimeScalar, { description: "When it was added." })
  createdAt!: Date;
}
