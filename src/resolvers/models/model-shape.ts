/** Converts providers and models to API objects, and is the only place that hides admin-only fields. Pure. */
import { contextLimitOf } from "../../domain/models/context-window.js";
import { encodeId } from "../../domain/common/ids.js";
import { keyVariableOf } from "../../domain/models/model-keys.js";
import { speaksOpenai } from "../../domain/models/model-provider-rules.js";
import { modelOutputLimit } from "../../domain/models/output-limit.js";
import type { ModelPricing as DomainPricing } from "../../domain/usage/money.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { ModelConfig, ModelPricing, ModelProvider } from "../../schema/models/model.type.js";
import type { ModelConfigRecord, ProviderRecord } from "../../store/models/models.js";

/** `keyVariables`: names of the environment variables that contain a key. */
type SeenBy = { viewer: Viewer; keyVariables: ReadonlySet<string> };

export function toModelConfig(record: ModelConfigRecord, { viewer }: Pick<SeenBy, "viewer">): ModelConfig {
  const { providerId, model, displayName, isEnabled, isDefault, compactionThresholdPercent } = record;
  return {
    __typename: "ModelConfig",
    id: encodeId("model", record.id),
    providerId,
    options: record.providerOptions,
    ...{ model, displayName, isEnabled, isDefault, compactionThresholdPercent },
    contextLimit: contextLimitOf(record),
    maxOutputTokens: record.maxOutputTokens,
    outputLimit: modelOutputLimit(record),
    pricing: record.pricing && toPricing(record.pricing),
    // Options may reveal details of the vendor account, and admins may have put anything into them.
    providerOptions: viewer.role === "admin" ? record.providerOptions : null,
    isDeleted: record.isDeleted,
    createdAt: record.createdAt,
  };
}

/** A model has both prices or none; the database enforces it. */
export function toPricing({ input, output, cacheRead, cacheWrite }: DomainPricing): ModelPricing {
  return { input: input ?? "0", output: output ?? "0", cacheRead, cacheWrite };
}

export function toModelProvider(record: ProviderRecord, { viewer, keyVariables }: SeenBy): ModelProvider {
  const { kind, displayName, isEnabled, keyPolicy, baseUrl, isDeleted } = record;
  const isAdmin = viewer.role === "admin";
  const variable = keyVariableOf(record);
  const hasEnvironmentKey = variable !== null && keyVariables.has(variable);
  return {
    __typename: "ModelProvider",
    id: encodeId("prov", record.id),
    providerId: record.id,
    ...{ kind, displayName, isEnabled, keyPolicy, isDeleted, createdAt: record.createdAt },
    hasApiKey: record.sealedKey !== null || hasEnvironmentKey,
    baseUrl: isAdmin && baseUrl !== null ? withoutCredentials(baseUrl) : null,
    admin: isAdmin
      ? {
          openaiApi: speaksOpenai(kind) ? record.openaiApi : null,
          isPrivateNetworkAllowed: record.allowsPrivateAddresses,
          hasEnvironmentKey,
          isBaseUrlFromEnvironment: record.apiKeyVariable !== null && !record.isAddressOwn,
        }
      : null,
  };
}

function withoutCredentials(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}
