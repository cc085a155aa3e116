/** Chat Completions through OpenAI's own SDK: OpenAI itself, Azure and the many servers that speak the same. */
import type OpenAI from "openai";
import { requiresNineCharacterIds } from "../common/call-ids.js";
import { runModelCall } from "../common/model-call.js";
import { buildChatRequest, type ChatServer } from "./chat-prompt.js";
import { requiresReasoning, reasoningOrigin } from "./chat-reasoning.js";
import { createChatReader } from "./chat-stream.js";
import { connectionProblem, createOpenaiClient } from "./client.js";
import { findOpenaiContextLimit, listOpenaiModels } from "./models.js";
import { type AnyChatOptions, chatOptionsSchema } from "./options.js";
import { parseOptions } from "../common/options.js";
import type { ModelProvider, ModelRequest, ProviderSettings } from "../types.js";
import type { StreamLimits } from "../common/watchdog.js";

/** Never reads the environment and never retries; see `ModelProvider` for what its streams promise. */
export function createOpenaiChatProvider(settings: ProviderSettings, limits: StreamLimits): ModelProvider {
  const client = createOpenaiClient(settings);
  const origin = reasoningOrigin(settings);
  return {
    stream: (request, signal) =>
      runModelCall({ settings, limits, signal }, () => {
        const problem = connectionProblem(settings);
        if (problem !== undefined) throw problem;
        const options = parseOptions(chatOptionsSchema(settings), request.options, settings);
        const open = (callSignal: AbortSignal) =>
          openChat(client, {
            request,
            server: { kind: settings.kind, origin },
            options,
            signal: callSignal,
          });
        return { open, reader: createChatReader(origin) };
      }),
    findContextLimit: (model, signal) => findOpenaiContextLimit(client, { settings, limits, model, signal }),
    listModels: (signal) => listOpenaiModels(client, { settings, limits, signal }),
  };
}

type Call = { request: ModelRequest; server: ChatServer; options: AnyChatOptions; signal: AbortSignal };

/** What a server turned out to want, once it has refused the request without. */
type Wants = Pick<ChatServer, "needsReasoning" | "needsNineCharacterIds">;

/**
 * Opens the stream; a server that misses reasoning in the history is asked once more, with it left empty, and one that
 * wants other ids of calls with such ids.
 */
async function openChat(client: OpenAI, { request, server, options, signal }: Call) {
  const { apiVersion } = options;
  const create = (wants: Wants) =>
    client.chat.completions.create(buildChatRequest(request, { ...server, ...wants }, options), {
      signal,
      headers: request.headers,
      ...(apiVersion === undefined ? {} : { query: { "api-version": apiVersion } }),
    });
  const wants: Wants = {};
  for (;;) {
    try {
      return await create(wants);
    } catch (error) {
      if (signal.aborted) throw error;
      const isMissed =
        server.origin !== undefined && options.replayReasoning !== false && requiresReasoning(error);
      if (isMissed && !wants.needsReasoning) wants.needsReasoning = true;
      else if (requiresNineCharacterIds(error) && !wants.needsNineCharacterIds)
        wants.needsNineCharacterIds = true;
      else throw error;
    }
  }
}
