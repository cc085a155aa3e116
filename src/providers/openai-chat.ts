/** Chat Completions through OpenAI's own SDK: OpenAI itself and the many servers that speak the same. */
import { missingKeyError } from "./errors.js";
import { runModelCall } from "./model-call.js";
import { buildChatRequest } from "./openai-chat-prompt.js";
import { createChatReader } from "./openai-chat-stream.js";
import { createOpenaiClient, lacksKey } from "./openai-client.js";
import type { ModelProvider, ModelRequest, ProviderSettings } from "./types.js";
import type { StreamLimits } from "./watchdog.js";

/** Never reads the environment and never retries; see `ModelProvider` for what its streams promise. */
export function createOpenaiChatProvider(settings: ProviderSettings, limits: StreamLimits): ModelProvider {
  const client = createOpenaiClient(settings);
  const isCompatible = settings.kind === "openai_compatible";
  return {
    async *stream(request: ModelRequest, signal: AbortSignal) {
      if (lacksKey(settings)) throw missingKeyError(settings);
      const body = buildChatRequest(request, isCompatible);
      yield* runModelCall(
        {
          settings,
          limits,
          open: (callSignal) =>
            client.chat.completions.create(body, { signal: callSignal, headers: request.headers }),
          reader: createChatReader(),
        },
        signal,
      );
    },
  };
}
