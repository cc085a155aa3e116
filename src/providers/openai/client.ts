/** Factory of OpenAI SDK clients for all OpenAI adapters: nothing from the environment, no retries, no log. */
import OpenAI from "openai";
import { ModelCallError } from "../../domain/common/failures.js";
import { azureBaseUrl } from "./azure-address.js";
import { missingKeyError } from "../common/errors.js";
import { providerFetch } from "../common/provider-fetch.js";
import type { ProviderSettings } from "../types.js";

const OPENAI_BASE_URL = "https://api.openai.com/v1";

/** The SDK requires some key; without one the header is omitted, as local servers expect. */
export function createOpenaiClient(settings: ProviderSettings): OpenAI {
  return new OpenAI({
    apiKey: settings.apiKey === "" ? "none" : settings.apiKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: baseUrlOf(settings),
    maxRetries: 0,
    logLevel: "off",
    ...headersOf(settings),
    ...providerFetch(settings),
  });
}

/** Why calls are refused upfront: the vendor's own address requires a key, and Azure requires a base URL. */
export function connectionProblem(settings: ProviderSettings): ModelCallError | undefined {
  const { kind, displayName, apiKey, baseUrl } = settings;
  const isAzure = kind === "azure_openai";
  if (apiKey === "" && (isAzure || baseUrl === undefined)) return missingKeyError(settings);
  if (!isAzure || (baseUrl ?? "").trim() !== "") return undefined;
  const message = `${displayName} has no address. Set its base URL to the resource's endpoint, such as https://NAME.openai.azure.com.`;
  return new ModelCallError({ kind: "config", message, provider: kind, isRetryable: false }, undefined);
}

function baseUrlOf({ kind, baseUrl }: ProviderSettings): string {
  if (baseUrl === undefined) return OPENAI_BASE_URL;
  return kind === "azure_openai" ? azureBaseUrl(baseUrl) : baseUrl;
}

/** Azure reads a resource's key from the header `api-key`; a bearer token would count as one of Entra's. */
function headersOf({ kind, apiKey }: ProviderSettings): { defaultHeaders?: Record<string, string | null> } {
  if (kind === "azure_openai") return { defaultHeaders: { Authorization: null, "api-key": apiKey } };
  return apiKey === "" ? { defaultHeaders: { Authorization: null } } : {};
}
