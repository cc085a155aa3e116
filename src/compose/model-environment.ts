/** Maps the configuration of models for the store, the engine and the adapters. Pure. */
import type { Config } from "../config/config.js";
import type { StreamLimits } from "../providers/common/watchdog.js";
import type { EnvironmentModels } from "../store/models/default-models.js";

/** The vendors with keys, their addresses, and the default model. */
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

/** Values of all variables for vendors' keys, by the names that provider rows contain. */
export function modelKeys(config: Config): Readonly<Record<string, string | undefined>> {
  return {
    ANTHROPIC_API_KEY: config.anthropicApiKey,
    OPENAI_API_KEY: config.openaiApiKey,
    GEMINI_API_KEY: config.geminiApiKey,
    AZURE_OPENAI_API_KEY: config.azureApiKey,
    AWS_BEARER_TOKEN_BEDROCK: config.bedrockApiKey,
  };
}

/** The names of the variables with a key. */
export function keyVariablesOf(config: Config): ReadonlySet<string> {
  const set = Object.entries(modelKeys(config)).filter(([, key]) => key !== undefined);
  return new Set(set.map(([name]) => name));
}

/** The timeouts for a silent model. */
export function silenceLimits(config: Config): Pick<StreamLimits, "startupTimeoutMs" | "stallTimeoutMs"> {
  return { startupTimeoutMs: config.modelStartupTimeoutMs, stallTimeoutMs: config.modelStallTimeoutMs };
}

/** Bedrock has one address for each region, and China its own domain. */
function bedrockUrlOf(region: string | undefined): string | undefined {
  if (region === undefined) return undefined;
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}
