/** Makes the adapter for a provider's settings. SDKs are loaded only when the first such provider is made. */
import { withLegalNames } from "./common/tool-names.js";
import { DEFAULT_STREAM_LIMITS, type StreamLimits } from "./common/watchdog.js";
import { endpointFetch } from "./common/endpoint-fetch.js";
import type { ModelProvider, ProviderSettings } from "./types.js";

/**
 * One provider, with one SDK client inside: keep it as long as its settings hold. Connections are kept alive
 * by Node's fetch and are shared by all clients anyway. Does not talk to the vendor; a missing key or a bad
 * address shows at the first call. `limits` are the silences to bear, by default those of production.
 */
export async function createProvider(
  given: ProviderSettings,
  limits: Partial<StreamLimits> = {},
): Promise<ModelProvider> {
  const bounds = { ...DEFAULT_STREAM_LIMITS, ...limits };
  const settings = { ...given, fetch: endpointFetch(given, bounds.clock) };
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
