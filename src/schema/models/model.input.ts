/** Inputs of the mutations on model providers, models and users' own keys. Absent fields do not change; null clears where the field's description says so. */
import { Field, ID, InputType, Int } from "type-graphql";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonValue } from "../../domain/common/json.js";
import type { KeyPolicy } from "../../domain/models/model-keys.js";
import type { OpenaiApi } from "../../domain/models/model-provider-rules.js";
import { ModelProviderKindEnum } from "../common/enums.js";
import { KeyPolicyEnum, OpenaiApiEnum } from "./model.type.js";
import { DecimalScalar } from "../scalars/decimal.js";
import { JsonScalar } from "../scalars/json.js";
import { SecretInput } from "../common/secret.input.js";

const PROVIDER_NAME = "The display name: 1 to 100 characters, unique among providers.";
const BASE_URL =
  "The API's base URL: an absolute http(s) URL of at most 2,048 characters, without user information or fragment. Null for the vendor's own, which OPENAI_COMPATIBLE and AZURE_OPENAI do not have.";
const API_KEY =
  "The deployment's API key: at most 8,192 visible ASCII characters. Not required with a `baseUrl` of your own; Bedrock calls without a key are signed with the machine's AWS credentials.";
const KEY_POLICY = "Whose key pays for model calls.";
const OPENAI_API =
  "Which of OpenAI's APIs to use; only for OPENAI, OPENAI_COMPATIBLE and AZURE_OPENAI. Defaults to CHAT for OPENAI_COMPATIBLE, else to RESPONSES.";
const PRIVATE =
  "Whether the base URL may be on the local machine or in a private network. Otherwise such addresses are blocked, whatever their names resolve to.";
const MODEL_NAME = "The display name: 1 to 100 characters, unique within the provider.";
const CONTEXT =
  "Size of the context window in tokens: 1 to 100,000,000. Null if unknown; it is then learned from the vendor's responses.";
const THRESHOLD =
  "Share of the context window, in percent, at which the history is compacted: 0 to 100. 100 means never.";
const MAX_OUTPUT =
  "Maximum number of output tokens per response: 1 to 100,000,000, and less than the context window. Null for Parley's default.";
const PRICING = "The price of future calls. Null if unknown. The cost of past calls does not change.";
const OPTIONS =
  "Options to send with each call: an object of at most 16,384 characters as JSON. Null for none. The supported options depend on the provider's kind and API, see docs/guides/add-a-model.md. Must not contain secrets, as they are recorded in the audit log.";
const ENABLED = "Whether chats may use it.";

@InputType("ModelPricingInput", { description: "Prices in US dollars per million tokens." })
export class ModelPricingInput {
  @Field(() => DecimalScalar, { description: "Input tokens, excluding cache reads and writes." })
  input!: string;

  @Field(() => DecimalScalar, { description: "Output tokens, including reasoning." })
  output!: string;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: "Price of input tokens read from the vendor's cache. Defaults to free.",
  })
  cacheRead?: string | null;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: "Price of input tokens written to the vendor's cache. Defaults to free.",
  })
  cacheWrite?: string | null;
}

@InputType("CreateModelProviderInput", { description: "Input of `createModelProvider`." })
export class CreateModelProviderInput {
  @Field(() => ModelProviderKindEnum, {
    description: "The wire format of the provider's API. Cannot be changed.",
  })
  kind!: ModelProviderKind;

  @Field(() => String, { description: PROVIDER_NAME })
  displayName!: string;

  @Field(() => String, { nullable: true, description: BASE_URL })
  baseUrl?: string | null;

  @Field(() => OpenaiApiEnum, { nullable: true, description: OPENAI_API })
  openaiApi?: OpenaiApi | null;

  @Field(() => SecretInput, { nullable: true, description: API_KEY })
  apiKey?: SecretInput | null;

  @Field(() => KeyPolicyEnum, { nullable: true, defaultValue: "deployment", description: KEY_POLICY })
  keyPolicy?: KeyPolicy | null;

  @Field(() => Boolean, { nullable: true, defaultValue: true, description: ENABLED })
  isEnabled?: boolean | null;

  @Field(() => Boolean, { nullable: true, defaultValue: false, description: PRIVATE })
  isPrivateNetworkAllowed?: boolean | null;
}

@InputType("UpdateModelProviderInput", {
  description: "Input of `updateModelProvider`. Fields that are absent do not change.",
})
export class UpdateModelProviderInput {
  @Field(() => ID, { description: "The provider." })
  providerId!: string;

  @Field(() => String, { nullable: true, description: PROVIDER_NAME })
  displayName?: string | null;

  @Field(() => String, {
    nullable: true,
    description: `${BASE_URL} Keys are never sent to another host than they were given for: after a change of host, the key must be set again, users' own keys are deleted, and a key from the environment is no longer used.`,
  })
  baseUrl?: string | null;

  @Field(() => OpenaiApiEnum, { nullable: true, description: OPENAI_API })
  openaiApi?: OpenaiApi | null;

  @Field(() => SecretInput, { nullable: true, description: `${API_KEY} Null deletes the stored key.` })
  apiKey?: SecretInput | null;

  @Field(() => KeyPolicyEnum, {
    nullable: true,
    description: `${KEY_POLICY} Users' own keys are kept under any policy.`,
  })
  keyPolicy?: KeyPolicy | null;

  @Field(() => Boolean, {
    nullable: true,
    description: `${ENABLED} The provider of the default model cannot be disabled.`,
  })
  isEnabled?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: PRIVATE })
  isPrivateNetworkAllowed?: boolean | null;
}

@InputType("DeleteModelProviderInput", { description: "Input of `deleteModelProvider`." })
export class DeleteModelProviderInput {
  @Field(() => ID, { description: "The provider." })
  providerId!: string;
}

@InputType("CreateModelConfigInput", { description: "Input of `createModelConfig`." })
export class CreateModelConfigInput {
  @Field(() => ID, { description: "The provider of the model." })
  providerId!: string;

  @Field(() => String, {
    description:
      "The vendor's ID of the model: at most 512 characters, without spaces. On Azure, the name of the deployment. Cannot be changed.",
  })
  model!: string;

  @Field(() => String, { description: MODEL_NAME })
  displayName!: string;

  @Field(() => Int, {
    nullable: true,
    description: `${CONTEXT} Defaults to the value in Parley's table of known models, if there is one.`,
  })
  contextLimit?: number | null;

  @Field(() => Int, { nullable: true, defaultValue: 70, description: THRESHOLD })
  compactionThresholdPercent?: number | null;

  @Field(() => Int, { nullable: true, description: MAX_OUTPUT })
  maxOutputTokens?: number | null;

  @Field(() => ModelPricingInput, {
    nullable: true,
    description: `${PRICING} Defaults to the price in Parley's table of known models, if it has one and the provider is the model's maker.`,
  })
  pricing?: ModelPricingInput | null;

  @Field(() => JsonScalar, { nullable: true, description: OPTIONS })
  providerOptions?: JsonValue;

  @Field(() => Boolean, { nullable: true, defaultValue: true, description: ENABLED })
  isEnabled?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: "Whether the model becomes the default, replacing the current one.",
  })
  isDefault?: boolean | null;
}

@InputType("UpdateModelConfigInput", {
  description: "Input of `updateModelConfig`. Fields that are absent do not change.",
})
export class UpdateModelConfigInput {
  @Field(() => ID, { description: "The model." })
  modelConfigId!: string;

  @Field(() => String, { nullable: true, description: MODEL_NAME })
  displayName?: string | null;

  @Field(() => Int, { nullable: true, description: CONTEXT })
  contextLimit?: number | null;

  @Field(() => Int, { nullable: true, description: THRESHOLD })
  compactionThresholdPercent?: number | null;

  @Field(() => Int, { nullable: true, description: MAX_OUTPUT })
  maxOutputTokens?: number | null;

  @Field(() => ModelPricingInput, { nullable: true, description: PRICING })
  pricing?: ModelPricingInput | null;

  @Field(() => JsonScalar, {
    nullable: true,
    description: `${OPTIONS} Replaces all current options.`,
  })
  providerOptions?: JsonValue;

  @Field(() => Boolean, { nullable: true, description: `${ENABLED} The default model cannot be disabled.` })
  isEnabled?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      "Set to true to make this model the default. False is refused for the current default: make another model the default instead.",
  })
  isDefault?: boolean | null;
}

@InputType("DeleteModelConfigInput", { description: "Input of `deleteModelConfig`." })
export class DeleteModelConfigInput {
  @Field(() => ID, { description: "The model. Must not be the default." })
  modelConfigId!: string;
}

@InputType("SetViewerProviderKeyInput", { description: "Input of `setViewerProviderKey`." })
export class SetViewerProviderKeyInput {
  @Field(() => ID, { description: "The provider. Its `keyPolicy` must allow users' own keys." })
  providerId!: string;

  @Field(() => SecretInput, {
    description:
      "The API key: at most 8,192 visible ASCII characters. `clear` deletes the stored key, if there is one.",
  })
  apiKey!: SecretInput;
}
