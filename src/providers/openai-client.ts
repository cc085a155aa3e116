/** The OpenAI SDK client as both OpenAI adapters want it: nothing from the environment, no retries, no log. */
import OpenAI from "openai";
import type { ProviderSettings } from "./types.js";

const OPENAI_BASE_URL = "https://api.openai.com/v1";

/** The SDK insists on some key; without one the header is left out, as local servers like it. */
export function createOpenaiClient(settings: ProviderSettings): OpenAI {
  return new OpenAI({
    apiKey: settings.apiKey === "" ? "none" : settings.apiKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: settings.baseUrl ?? OPENAI_BASE_URL,
    maxRetries: 0,
    logLevel: "off",
    ...(settings.apiKey === "" ? { defaultHeaders: { Authorization: null } } : {}),
  });
}

/** Whether a call must be refused before it is made: the vendor's own address never works without a key. */
export function lacksKey(settings: ProviderSettings): boolean {
  return settings.apiKey === "" && settings.baseUrl === undefined;
}
