/** Adapter for Anthropic's Messages API, through Anthropic's own SDK. */
import Anthropic from "@anthropic-ai/sdk";
import { openAnswer } from "./continuation.js";
import { anthropicOptionsSchema, betaHeader } from "./options.js";
import { buildAnthropicRequest } from "./prompt.js";
import { createAnthropicReader } from "./stream.js";
import { samplingVersionHeader } from "./thinking.js";
import { findContextLimitIn } from "../common/context-limit.js";
import { missingKeyError, toModelCallError } from "../common/errors.js";
import { collectListed, readListed } from "../common/listed-models.js";
import { runModelCall } from "../common/model-call.js";
import { parseOptions } from "../common/options.js";
import { providerFetch } from "../common/provider-fetch.js";
import type { ModelProvider, ProviderSettings } from "../types.js";
import type { StreamLimits } from "../common/watchdog.js";

const ANTHROPIC_BASE_URL = "https://api.anthropic.com";
/** The vendor's maximum. */
const LIST_PAGE_SIZE = 1_000;

/** Reads neither credentials nor an address from the environment and never retries; see `ModelProvider`. */
export function createAnthropicProvider(settings: ProviderSettings, limits: StreamLimits): ModelProvider {
  const client = new Anthropic({
    // Without a key the SDK would look for credentials on this machine.
    apiKey: settings.apiKey === "" ? "none" : settings.apiKey,
    webhookKey: null,
    // The SDK appends /v1 itself; a base URL that already ends with it would answer 404.
    baseURL: (settings.baseUrl ?? ANTHROPIC_BASE_URL).replace(/\/+(v1\/*)?$/, ""),
    maxRetries: 0,
    logLevel: "off",
    // Otherwise environment variables could make the SDK trace calls, including their contents.
    openTelemetry: false,
    ...providerFetch(settings),
  });
  const requireKey = () => {
    if (settings.apiKey === "" && settings.baseUrl === undefined) throw missingKeyError(settings);
  };
  return {
    stream: (request, signal) =>
      runModelCall({ settings, limits, signal }, () => {
        requireKey();
        const options = parseOptions(anthropicOptionsSchema, request.options, settings);
        const body = buildAnthropicRequest(request, options);
        const headers = { ...request.headers, ...betaHeader(options), ...samplingVersionHeader(body) };
        const open = (callSignal: AbortSignal) =>
          openAnswer(body, (params) => client.messages.create(params, { signal: callSignal, headers }));
        return { open, reader: createAnthropicReader() };
      }),

    async findContextLimit(model: string, signal: AbortSignal) {
      requireKey();
      try {
        const timeout = limits.startupTimeoutMs;
        const description = await client.models.retrieve(model, null, { signal, timeout });
        return findContextLimitIn(description) ?? null;
      } catch (error) {
        const failed = toModelCallError(error, settings, limits.clock.now());
        // Many gateways have no list, and a list need not have this model.
        if (failed.failure.httpStatus === 404) return null;
        throw failed;
      }
    },

    async listModels(signal: AbortSignal) {
      requireKey();
      try {
        const entries = client.models.list({ limit: LIST_PAGE_SIZE }, { signal });
        return await collectListed(entries, (entry) => readListed(entry.id, entry.display_name, entry));
      } catch (error) {
        throw toModelCallError(error, settings, limits.clock.now());
      }
    },
  };
}
