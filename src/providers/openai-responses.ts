/** OpenAI's Responses API through OpenAI's own SDK; nothing is stored at the vendor. */
import { missingKeyError } from "./errors.js";
import { runModelCall } from "./model-call.js";
import { createOpenaiClient, lacksKey } from "./openai-client.js";
import { buildResponsesRequest } from "./openai-responses-prompt.js";
import { createResponsesReader } from "./openai-responses-stream.js";
import type { ModelProvider, ModelRequest, ProviderSettings } from "./types.js";
import type { StreamLimits } from "./watchdog.js";

/** Never reads the environment and never retries; see `ModelProvider` for what its streams promise. */
export function createOpenaiResponsesProvider(
  settings: ProviderSettings,
  limits: StreamLimits,
): ModelProvider {
  const client = createOpenaiClient(settings);
  return {
    async *stream(request: ModelRequest, signal: AbortSignal) {
      if (lacksKey(settings)) throw missingKeyError(settings);
      const body = buildResponsesRequest(request);
      yield* runModelCall(
        {
          settings,
          limits,
          open: (callSignal) =>
            client.responses.create(body, { signal: callSignal, headers: request.headers }),
          reader: createResponsesReader(),
        },
        signal,
      );
    },
  };
}
