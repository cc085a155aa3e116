/** Converts inputs of the mutations on providers and models to command arguments. Pure. */
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

/** For a new provider, null and absent both mean the default. */
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

/** For a new model, null means no value; absent means the value in the table of known models, or the default. */
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

/** The schema guarantees that exactly one field is set. */
export function readSecret({ set, clear }: SecretInput): SecretChange {
  return { set, clear };
}

function readPricing(input: ModelPricingInput | null | undefined): ModelPricing | null | undefined {
  if (!input) return input;
  const { input: asked, output, cacheRead, cacheWrite } = input;
  return { input: asked, output, cacheRead: cacheRead ?? null, cacheWrite: cacheWrite ?? null };
}

type WithoutNulls<T> = { [Key in keyof T]?: NonNullable<T[Key]> };

function withoutNulls<T extends object>(values: T): WithoutNulls<T> {
  const entries = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as WithoutNulls<T>;
}
