/** Factory of providers. SDKs are loaded lazily, with the first provider of their kind. */
import { withLegalNames } from "./common/tool-names.js";
import { DEFAULT_STREAM_LIMITS, type StreamLimits } from "./common/watchdog.js";
import { endpointFetch } from "./common/endpoint-fetch.js";
import type { ModelProvider, ProviderSettings } from "./types.js";

/**
 * Creates a provider with its SDK client; reuse it as long as its settings are unchanged. Connections belong to Node's
 * fetch and are shared by all clients. Does not contact the vendor: a missing key or a wrong address fails the first
 * call. `limits` default to `DEFAULT_STREAM_LIMITS`.
 */
export async function createProvider(
  original: ProviderSettings,
  limits: Partial<StreamLimits> = {},
): Promise<ModelProvider> {
  const bounds = { ...DEFAULT_STREAM_LIMITS, ...limits };
  const settings = { ...original, fetch: endpointFetch(original, bounds.clock) };
  return withLegalNames(await createAdapter(settings, bounds));
}

async function createAdapter(settings: ProviderSettings, bounds: StreamLimits): Promise<ModelProvider> {
  switch (settings.kind) {
    case "anthropic": {
      const { createAnthropicProvider } = await import("./anthropic/adapter.js");
      return createAnthropicProvider(settings, bounds);
    }
    case "bedrock": {
      const { createBedrockProvider } = await import("./bedrock/adapter.js");
      return createBedrockProvider(settings, bounds);
    }
    case "google": {
      const { createGoogleProvider } = await import("./google/adapter.js");
      return createGoogleProvider(settings, bounds);
    }
    case "openai":
    case "azure_openai":
    case "openai_compatible": {
      if (settings.openaiApi === "responses") {
        const { createOpenaiResponsesProvider } = await import("./openai/responses.js");
        return createOpenaiResponsesProvider(settings, bounds);
      }
      const { createOpenaiChatProvider } = await import("./openai/chat.js");
      return createOpenaiChatProvider(settings, bounds);
    }
  }
}
