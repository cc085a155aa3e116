/** Anthropic's Messages API through Anthropic's own SDK. */
import Anthropic from "@anthropic-ai/sdk";
import { buildAnthropicRequest } from "./anthropic-prompt.js";
import { createAnthropicReader } from "./anthropic-stream.js";
import { missingKeyError } from "./errors.js";
import { runModelCall } from "./model-call.js";
import type { ModelProvider, ModelRequest, ProviderSettings } from "./types.js";
import type { StreamLimits } from "./watchdog.js";

const ANTHROPIC_BASE_URL = "https://api.anthropic.com";

/** Never reads the environment and never retries; see `ModelProvider` for what its streams promise. */
export function createAnthropicProvider(settings: ProviderSettings, limits: StreamLimits): ModelProvider {
  const client = new Anthropic({
    // Some key must be given, or the SDK looks for credentials on this machine.
    apiKey: settings.apiKey === "" ? "none" : settings.apiKey,
    webhookKey: null,
    // The SDK appends /v1 itself; an address copied with it would answer 404.
    baseURL: (settings.baseUrl ?? ANTHROPIC_BASE_URL).replace(/\/+(v1\/*)?$/, ""),
    maxRetries: 0,
    logLevel: "off",
  });
  return {
    async *stream(request: ModelRequest, signal: AbortSignal) {
      if (settings.apiKey === "" && settings.baseUrl === undefined) throw missingKeyError(settings);
      const body = buildAnthropicRequest(request);
      yield* runModelCall(
        {
          settings,
          limits,
          open: (callSignal) =>
            client.messages.create(body, { signal: callSignal, headers: request.headers }),
          reader: createAnthropicReader(),
        },
        signal,
      );
    },
  };
}
