/** What the mutations on model providers, models and people's own keys take. Absent keeps; null clears where that is said. */
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

const PROVIDER_NAME = "What people call it: 1 to 100 characters, unique among providers.";
const BASE_URL =
  "Where it is asked: an absolute http(s) address of at most 2,048 characters, without a user and without #. Null = the vendor's own, which OPENAI_COMPATIBLE and AZURE_OPENAI do not have.";
const API_KEY =
  "The deployment's key: at most 8,192 visible ASCII characters. Calls to an address of its own may go without one, and Bedrock's are then signed with the machine's AWS credentials.";
const KEY_POLICY = "Whose key pays.";
const OPENAI_API =
  "Which of OpenAI's formats it speaks; for OPENAI, OPENAI_COMPATIBLE and AZURE_OPENAI only. By default CHAT for OPENAI_COMPATIBLE, else RESPONSES.";
const PRIVATE =
  "Whether its address may be on this machine or in a private network. Without that it cannot be reached there, whatever its name resolves to.";
const MODEL_NAME = "What people call it: 1 to 100 characters, unique among the provider's models.";
const CONTEXT =
  "Tokens that fit into one call: 1 to 100,000,000; null = nobody says, then the vendor's answers will show it.";
const THRESHOLD =
  "Share of the context, in percent, at which history is summarised: 0 to 100, which never summarises.";
const MAX_OUTPUT =
  "Tokens that one answer may have: 1 to 100,000,000, and less than the context; null = Parley's default.";
const PRICING = "What calls cost from now on; null = unpriced. What was said before keeps its cost.";
const OPTIONS =
  "The vendor's call options: an object of at most 16,384 characters as JSON; null = none. Which there are depends on the provider's kind and format, see docs/models.md. They are no place for secrets: the audit log tells them.";
const ENABLED = "Whether chats may use it.";

@InputType("ModelPricingInput", { description: "US dollars per million tokens." })
export class ModelPricingInput {
  @Field(() => DecimalScalar, { description: "Input tokens, without cache reads and writes." })
  input!: string;

  @Field(() => DecimalScalar, { description: "Output tokens, reasoning included." })
  output!: string;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: "Input tokens that come from the vendor's cache; absent = nothing is charged.",
  })
  cacheRead?: string | null;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: "Input tokens that go into the vendor's cache; absent = nothing is charged.",
  })
  cacheWrite?: string | null;
}

@InputType("CreateModelProviderInput", { description: "A model provider to set up." })
export class CreateModelProviderInput {
  @Field(() => ModelProviderKindEnum, { description: "Whose wire format it speaks. It never changes." })
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

@InputType("UpdateModelProviderInput", { description: "What to change of a model provider; absent keeps." })
export class UpdateModelProviderInput {
  @Field(() => ID, { description: "The provider." })
  providerId!: string;

  @Field(() => String, { nullable: true, description: PROVIDER_NAME })
  displayName?: string | null;

  @Field(() => String, {
    nullable: true,
    description: `${BASE_URL} Another host gets no key that was given for the former one: give the key anew; people's own keys are forgotten, and a key from the environment does not count any more.`,
  })
  baseUrl?: string | null;

  @Field(() => OpenaiApiEnum, { nullable: true, description: OPENAI_API })
  openaiApi?: OpenaiApi | null;

  @Field(() => SecretInput, { nullable: true, description: `${API_KEY} Null = forget it.` })
  apiKey?: SecretInput | null;

  @Field(() => KeyPolicyEnum, {
    nullable: true,
    description: `${KEY_POLICY} People's own keys are kept under any policy.`,
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

@InputType("DeleteModelProviderInput", { description: "Which model provider to delete." })
export class DeleteModelProviderInput {
  @Field(() => ID, { description: "The provider." })
  providerId!: string;
}

@InputType("CreateModelConfigInput", { description: "A model to set up." })
export class CreateModelConfigInput {
  @Field(() => ID, { description: "Whose model it is." })
  providerId!: string;

  @Field(() => String, {
    description:
      "The vendor's own id of the model, at most 512 characters without blanks; Azure's is the deployment's name. It never changes.",
  })
  model!: string;

  @Field(() => String, { description: MODEL_NAME })
  displayName!: string;

  @Field(() => Int, {
    nullable: true,
    description: `${CONTEXT} Absent = what Parley's table of known models says, if it does.`,
  })
  contextLimit?: number | null;

  @Field(() => Int, { nullable: true, defaultValue: 70, description: THRESHOLD })
  compactionThresholdPercent?: number | null;

  @Field(() => Int, { nullable: true, description: MAX_OUTPUT })
  maxOutputTokens?: number | null;

  @Field(() => ModelPricingInput, {
    nullable: true,
    description: `${PRICING} Absent = what Parley's table of known models says, if it does and the provider is the model's maker.`,
  })
  pricing?: ModelPricingInput | null;

  @Field(() => JsonScalar, { nullable: true, description: OPTIONS })
  providerOptions?: JsonValue;

  @Field(() => Boolean, { nullable: true, defaultValue: true, description: ENABLED })
  isEnabled?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: "True: it becomes the default instead of the one so far.",
  })
  isDefault?: boolean | null;
}

@InputType("UpdateModelConfigInput", { description: "What to change of a model; absent keeps." })
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
    description: `${OPTIONS} Given options replace all of the former.`,
  })
  providerOptions?: JsonValue;

  @Field(() => Boolean, { nullable: true, description: `${ENABLED} The default cannot be disabled.` })
  isEnabled?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      "True: it becomes the default instead of the one so far. False is refused for the default: make another one the default.",
  })
  isDefault?: boolean | null;
}

@InputType("DeleteModelConfigInput", { description: "Which model to delete." })
export class DeleteModelConfigInput {
  @Field(() => ID, { description: "The model; not the default." })
  modelConfigId!: string;
}

@InputType("SetViewerProviderKeyInput", { description: "The viewer's own key for a model provider." })
export class SetViewerProviderKeyInput {
  @Field(() => ID, { description: "The provider; its `keyPolicy` must take people's own keys." })
  providerId!: string;

  @Field(() => SecretInput, {
    description:
      "The key: at most 8,192 visible ASCII characters. `clear` forgets it, also where there is none.",
  })
  apiKey!: SecretInput;
}
