/** From the inputs of the mutations on providers and models to what the commands take. Pure. */
import type { SecretChange } from "../../domain/mcp/auth-rules.js";
import type { ModelChange, NewModel } from "../../domain/models/model-config-rules.js";
import type { NewProvider, ProviderChange } from "../../domain/models/model-provider-rules.js";
import type { ModelPricing } from "../../domain/usage/money.js";
import type {
  CreateModelConfigInput,
  CreateModelProviderInput,
  ModelPricingInput,
  UpdateModelConfigInput,
  UpdateModelProviderInput,
} from "../../schema/models/model.input.js";
import type { SecretInput } from "../../schema/common/secret.input.js";

/** Null and absent mean the same for a new provider: the default. */
export function readNewProvider({ kind, displayName, ...rest }: CreateModelProviderInput): NewProvider {
  const { apiKey, ...given } = withoutNulls(rest);
  return { ...given, kind, displayName, ...(apiKey ? { apiKey: readSecret(apiKey) } : {}) };
}

export function readProviderChange({
  providerId: _providerId,
  apiKey,
  ...rest
}: UpdateModelProviderInput): ProviderChange {
  return { ...rest, ...(apiKey === undefined ? {} : { apiKey: apiKey && readSecret(apiKey) }) };
}

/** For a new model null says that there is none of it; absent is the table's word, or the default. */
export function readNewModel(input: Omit<CreateModelConfigInput, "providerId">): NewModel {
  const { model, displayName, contextLimit, maxOutputTokens, providerOptions, pricing, ...flags } = input;
  return {
    ...withoutNulls(flags),
    ...{ model, displayName, contextLimit, maxOutputTokens, providerOptions },
    pricing: readPricing(pricing),
  };
}

export function readModelChange({
  modelConfigId: _modelConfigId,
  pricing,
  ...rest
}: UpdateModelConfigInput): ModelChange {
  return { ...rest, pricing: readPricing(pricing) };
}

/** The schema lets exactly one of the fields through. */
export function readSecret({ set, clear }: SecretInput): SecretChange {
  return { set, clear };
}

function readPricing(input: ModelPricingInput | null | undefined): ModelPricing | null | undefined {
  if (!input) return input;
  const { input: asked, output, cacheRead, cacheWrite } = input;
  return { input: asked, output, cacheRead: cacheRead ?? null, cacheWrite: cacheWrite ?? null };
}

type WithoutNulls<T> = { [Key in keyof T]?: NonNullable<T[Key]> };

function withoutNulls<T extends object>(given: T): WithoutNulls<T> {
  const kept = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept) as WithoutNulls<T>;
}
