/** Adapter for Chat Completions, through OpenAI's own SDK: OpenAI, Azure and compatible servers. */
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

/** Never reads the environment and never retries; see `ModelProvider`. */
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

/** Requirements that a server has shown by refusing a request. */
type Requirements = Pick<ChatServer, "needsReasoning" | "needsNineCharacterIds">;

/**
 * Opens the stream. A request that is refused for missing reasoning is repeated once with empty reasoning, and one that
 * is refused for its call ids with nine-character ids.
 */
async function openChat(client: OpenAI, { request, server, options, signal }: Call) {
  const { apiVersion } = options;
  const create = (requirements: Requirements) =>
    client.chat.completions.create(buildChatRequest(request, { ...server, ...requirements }, options), {
      signal,
      headers: request.headers,
      ...(apiVersion === undefined ? {} : { query: { "api-version": apiVersion } }),
    });
  const requirements: Requirements = {};
  for (;;) {
    try {
      return await create(requirements);
    } catch (error) {
      if (signal.aborted) throw error;
      const lacksReasoning =
        server.origin !== undefined && options.replayReasoning !== false && requiresReasoning(error);
      if (lacksReasoning && !requirements.needsReasoning) requirements.needsReasoning = true;
      else if (requiresNineCharacterIds(error) && !requirements.needsNineCharacterIds)
        requirements.needsNineCharacterIds = true;
      else throw error;
    }
  }
}
