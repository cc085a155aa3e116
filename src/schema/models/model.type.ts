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
  deployment: "The deployment's.",
  user: "The own key of the person whose chat it is; without one their turns are refused.",
  user_then_deployment: "The person's own, and the deployment's where they have stored none.",
});

export const OpenaiApiEnum = describeEnum<OpenaiApi>("OpenaiApi", "Which of OpenAI's formats is spoken.", {
  responses: "The Responses API.",
  chat: "Chat Completions, which most compatible servers have.",
});

export const ModelCapabilityEnum = describeEnum<ModelCapability>(
  "ModelCapability",
  "What a model can do here. May grow: ignore what you do not know.",
  {
    reasoning: "It thinks before it speaks, as hard as `reasoningEffort` says.",
    images: "It sees pictures.",
    web_search: "It searches the web through its vendor.",
    computer_use: "It can be given a computer's screen, mouse and keyboard.",
  },
);

@ObjectType("ModelProviderAdmin", {
  simpleResolvers: true,
  description: "How a provider is set up, for admins.",
})
export class ModelProviderAdmin {
  @Field(() => OpenaiApiEnum, {
    nullable: true,
    description: "Which of OpenAI's formats it speaks; null for other vendors.",
  })
  openaiApi!: OpenaiApi | null;

  @Field(() => Boolean, {
    description:
      "Whether an address that an admin chose may be on this machine or in a private network. One from the environment may be anywhere.",
  })
  isPrivateNetworkAllowed!: boolean;

  @Field(() => Boolean, {
    description: "Whether the environment gives a key for it, which counts while no other is stored.",
  })
  hasEnvironmentKey!: boolean;

  @Field(() => Boolean, {
    description:
      "Whether the environment sets its address at each start; false also once an admin has chosen another.",
  })
  isAddressFromEnvironment!: boolean;
}

@ObjectType("ModelProvider", {
  implements: Node,
  simpleResolvers: true,
  description: "A vendor's endpoint that models are asked through. Keys are never shown.",
})
export class ModelProvider implements Node {
  readonly __typename!: "ModelProvider";

  id!: string;

  /** The database's id. */
  providerId!: string;

  @Field(() => ModelProviderKindEnum, { description: "Whose wire format it speaks." })
  kind!: ModelProviderKind;

  @Field(() => String, { description: "What people call it." })
  displayName!: string;

  @Field(() => Boolean, { description: "Whether its models may be used." })
  isEnabled!: boolean;

  @Field(() => Boolean, {
    description: "Whether the server holds a key for it. False for a provider that needs none.",
  })
  hasApiKey!: boolean;

  @Field(() => KeyPolicyEnum, { description: "Whose key pays." })
  keyPolicy!: KeyPolicy;

  @Field(() => Boolean, {
    description: "Whether it was deleted; then it is only told of in what was said and spent.",
  })
  isDeleted!: boolean;

  @Field(() => DateTimeScalar, { description: "When it was added." })
  createdAt!: Date;

  @Field(() => ModelProviderAdmin, { nullable: true, description: "Admins only; null for everyone else." })
  admin!: ModelProviderAdmin | null;

  @Field(() => UrlScalar, {
    nullable: true,
    description:
      "Where it is asked, without credentials; null = the vendor's own. Admins only; null for everyone else.",
  })
  baseUrl!: string | null;
}

@ObjectType("ModelPricing", { simpleResolvers: true, description: "US dollars per million tokens." })
export class ModelPricing {
  @Field(() => DecimalScalar, { description: "Input tokens, without cache reads and writes." })
  input!: string;

  @Field(() => DecimalScalar, { description: "Output tokens, reasoning included." })
  output!: string;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: "Input tokens that come from the vendor's cache; null = nothing is charged.",
  })
  cacheRead!: string | null;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: "Input tokens that go into the vendor's cache; null = nothing is charged.",
  })
  cacheWrite!: string | null;
}

@ObjectType("ModelConfig", {
  implements: Node,
  simpleResolvers: true,
  description: "One model of a provider, as people may choose it.",
})
export class ModelConfig implements Node {
  readonly __typename!: "ModelConfig";

  id!: string;

  /** The database's id of the provider. */
  providerId!: string;

  /** What goes with calls, whoever looks. */
  options!: JsonObject;

  @Field(() => String, { description: "The vendor's own id of the model." })
  model!: string;

  @Field(() => String, { description: "What people call it." })
  displayName!: string;

  @Field(() => Boolean, { description: "Whether chats may use it; its provider must be enabled too." })
  isEnabled!: boolean;

  @Field(() => Boolean, { description: "Used by chats that choose none. Exactly one model is the default." })
  isDefault!: boolean;

  @Field(() => Int, {
    nullable: true,
    description: "Tokens that fit into one call; null = not known yet: the vendor's answers will show it.",
  })
  contextLimit!: number | null;

  @Field(() => ModelPricing, {
    nullable: true,
    description: "What its calls cost from now on; null = unpriced: nobody knows what they cost.",
  })
  pricing!: ModelPricing | null;

  @Field(() => Int, { description: "Share of the context, in percent, at which history is summarised." })
  compactionThresholdPercent!: number;

  @Field(() => Int, {
    nullable: true,
    description:
      "Tokens that one answer may have, as an admin said; null = the deployment's default, as far as the model gives it.",
  })
  maxOutputTokens!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Tokens that the model gives in one answer at most, whatever is asked for; null = not known yet: the vendor's refusals will show it.",
  })
  outputLimit!: number | null;

  @Field(() => JsonScalar, {
    nullable: true,
    description: "The vendor's call options. Admins only; null for everyone else.",
  })
  providerOptions!: JsonObject | null;

  @Field(() => Boolean, {
    description:
      "Whether it was deleted, by itself or with its provider; then it is only told of in what was said and spent.",
  })
  isDeleted!: boolean;

  @Field(() => DateTimeScalar, { description: "When it was added." })
  createdAt!: Date;
}
