/** Adapter for OpenAI's Responses API, through OpenAI's own SDK: OpenAI, Azure and compatible servers. */
import type OpenAI from "openai";
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import { runModelCall } from "../common/model-call.js";
import { connectionProblem, createOpenaiClient } from "./client.js";
import { findOpenaiContextLimit, listOpenaiModels } from "./models.js";
import { type AnyResponsesOptions, responsesOptionsSchema } from "./options.js";
import { buildResponsesRequest, continueResponse } from "./responses-prompt.js";
import { createResponsesReader } from "./responses-stream.js";
import { parseOptions } from "../common/options.js";
import type { ModelProvider, ModelRequest, ProviderSettings } from "../types.js";
import type { StreamLimits } from "../common/watchdog.js";

/** Never reads the environment and never retries; see `ModelProvider`. */
export function createOpenaiResponsesProvider(
  settings: ProviderSettings,
  limits: StreamLimits,
): ModelProvider {
  const client = createOpenaiClient(settings);
  return {
    stream: (request, signal) =>
      runModelCall({ settings, limits, signal }, () => {
        const problem = connectionProblem(settings);
        if (problem !== undefined) throw problem;
        const options = parseOptions(responsesOptionsSchema(settings), request.options, settings);
        const open = (callSignal: AbortSignal) =>
          openResponse(client, { request, settings, options, signal: callSignal });
        const reader = createResponsesReader({ kind: settings.kind, isStored: options.store });
        return { open, reader };
      }),
    findContextLimit: (model, signal) => findOpenaiContextLimit(client, { settings, limits, model, signal }),
    listModels: (signal) => listOpenaiModels(client, { settings, limits, signal }),
  };
}

type Call = {
  request: ModelRequest;
  settings: ProviderSettings;
  options: AnyResponsesOptions;
  signal: AbortSignal;
};

/**
 * Opens the stream, as a continuation of the newest answer where the vendor stores it. When the vendor no longer has
 * that answer (or its record differs from our history), the request is repeated with the whole history.
 */
async function openResponse(client: OpenAI, { request, settings, options, signal }: Call) {
  const create = (body: ResponseCreateParamsStreaming) =>
    client.responses.create(body, {
      signal,
      headers: request.headers,
      ...(options.apiVersion === undefined ? {} : { query: { "api-version": options.apiVersion } }),
    });
  const continued = continueResponse(request, options);
  if (continued === undefined) return create(buildResponsesRequest(request, settings.kind, options));
  const body = buildResponsesRequest(continued.request, settings.kind, options);
  try {
    return await create({ ...body, previous_response_id: continued.responseId });
  } catch (error) {
    if (signal.aborted || !isResponseExpired(error)) throw error;
    return create(buildResponsesRequest(request, settings.kind, options));
  }
}

/** Observed on OpenAI, vLLM, LM Studio and others; all refuse before anything is streamed. */
function isResponseExpired(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const [status, code, param] = ["status", "code", "param"].map((name): unknown => Reflect.get(error, name));
  if (status !== 400 && status !== 404) return false;
  return (
    code === "previous_response_not_found" ||
    param === "previous_response_id" ||
    /previous[ _]response|response with id\b.*not found|no tool (call|output) found/i.test(error.message)
  );
}
