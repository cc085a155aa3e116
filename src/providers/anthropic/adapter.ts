/** Anthropic's Messages API through Anthropic's own SDK. */
import Anthropic from "@anthropic-ai/sdk";
import { openAnswer } from "./continuation.js";
import { anthropicOptionsSchema, betaHeader } from "./options.js";
import { buildAnthropicRequest } from "./prompt.js";
import { createAnthropicReader } from "./stream.js";
import { samplingVersionHeader } from "./thinking.js";
import { findContextLimitIn } from "../common/context-limit.js";
import { missingKeyError, toModelCallError } from "../common/errors.js";
import { gatherListed, readListed } from "../common/listed-models.js";
import { runModelCall } from "../common/model-call.js";
import { parseOptions } from "../common/options.js";
import { fetchOption } from "../common/provider-fetch.js";
import type { ModelProvider, ProviderSettings } from "../types.js";
import type { StreamLimits } from "../common/watchdog.js";

const ANTHROPIC_BASE_URL = "https://api.anthropic.com";
/** The most that the vendor gives at once. */
const LIST_PAGE_SIZE = 1_000;

/** Takes neither credentials nor an address from the environment and never retries; see `ModelProvider` for what its streams promise. */
export function createAnthropicProvider(settings: ProviderSettings, limits: StreamLimits): ModelProvider {
  const client = new Anthropic({
    // Some key must be given, or the SDK looks for credentials on this machine.
    apiKey: settings.apiKey === "" ? "none" : settings.apiKey,
    webhookKey: null,
    // The SDK appends /v1 itself; an address copied with it would answer 404.
    baseURL: (settings.baseUrl ?? ANTHROPIC_BASE_URL).replace(/\/+(v1\/*)?$/, ""),
    maxRetries: 0,
    logLevel: "off",
    // Otherwise variables of the environment could make the SDK trace calls, contents included.
    openTelemetry: false,
    ...fetchOption(settings),
  });
  const demandKey = () => {
    if (settings.apiKey === "" && settings.baseUrl === undefined) throw missingKeyError(settings);
  };
  return {
    stream: (request, signal) =>
      runModelCall({ settings, limits, signal }, () => {
        demandKey();
        const options = parseOptions(anthropicOptionsSchema, request.options, settings);
        const body = buildAnthropicRequest(request, options);
        const headers = { ...request.headers, ...betaHeader(options), ...samplingVersionHeader(body) };
        const open = (callSignal: AbortSignal) =>
          openAnswer(body, (params) => client.messages.create(params, { signal: callSignal, headers }));
        return { open, reader: createAnthropicReader() };
      }),

    async findContextLimit(model: string, signal: AbortSignal) {
      demandKey();
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
      demandKey();
      try {
        const entries = client.models.list({ limit: LIST_PAGE_SIZE }, { signal });
        return await gatherListed(entries, (entry) => readListed(entry.id, entry.display_name, entry));
      } catch (error) {
        throw toModelCallError(error, settings, limits.clock.now());
      }
    },
  };
}
