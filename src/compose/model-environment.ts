/** The configuration's words on models, as the store, the engine and the adapters want them. Pure. */
import type { Config } from "../config/config.js";
import type { StreamLimits } from "../providers/common/watchdog.js";
import type { EnvironmentModels } from "../store/models/default-models.js";

/** The vendors whose keys are set, with their addresses, and the model that is to be the default. */
export function environmentModels(config: Config): EnvironmentModels {
  const bedrockUrl = config.bedrockBaseUrl ?? bedrockUrlOf(config.awsRegion);
  return {
    ...(config.anthropicApiKey ? { anthropic: { baseUrl: config.anthropicBaseUrl } } : {}),
    ...(config.openaiApiKey ? { openai: { baseUrl: config.openaiBaseUrl, api: config.openaiApi } } : {}),
    ...(config.geminiApiKey ? { google: { baseUrl: config.geminiBaseUrl } } : {}),
    ...(config.azureApiKey ? { azure_openai: { baseUrl: config.azureEndpoint, api: config.openaiApi } } : {}),
    ...(config.bedrockApiKey ? { bedrock: { baseUrl: bedrockUrl } } : {}),
    ...(config.model ? { model: config.model } : {}),
  };
}

/** Every variable that may hold a vendor's key, with its value; the names are what provider rows say. */
export function modelKeys(config: Config): Readonly<Record<string, string | undefined>> {
  return {
    ANTHROPIC_API_KEY: config.anthropicApiKey,
    OPENAI_API_KEY: config.openaiApiKey,
    GEMINI_API_KEY: config.geminiApiKey,
    AZURE_OPENAI_API_KEY: config.azureApiKey,
    AWS_BEARER_TOKEN_BEDROCK: config.bedrockApiKey,
  };
}

/** The names of the variables that hold a key. */
export function keyVariablesOf(config: Config): ReadonlySet<string> {
  const held = Object.entries(modelKeys(config)).filter(([, key]) => key !== undefined);
  return new Set(held.map(([name]) => name));
}

/** The silences to bear from a model. */
export function silenceLimits(config: Config): Pick<StreamLimits, "startupTimeoutMs" | "stallTimeoutMs"> {
  return { startupTimeoutMs: config.modelStartupTimeoutMs, stallTimeoutMs: config.modelStallTimeoutMs };
}

/** Bedrock has one address for each region, and China its own domain. */
function bedrockUrlOf(region: string | undefined): string | undefined {
  if (region === undefined) return undefined;
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}
