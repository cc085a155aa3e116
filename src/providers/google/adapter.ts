/** Adapter for Google's Gemini API, through Google's own SDK. */
import { GoogleGenAI, type HttpOptions, type Model } from "@google/genai";
import { ModelCallError } from "../../domain/common/failures.js";
import { isOwnError, missingKeyError, toModelCallError } from "../common/errors.js";
import { explainGoogleError, type Refusal } from "./errors.js";
import { googleOptionsSchema } from "./options.js";
import { buildGoogleRequest, optionsConflict } from "./prompt.js";
import { createGoogleReader } from "./stream.js";
import { collectListed, readListed } from "../common/listed-models.js";
import { runModelCall } from "../common/model-call.js";
import { parseOptions } from "../common/options.js";
import type { ModelProvider, ProviderSettings } from "../types.js";
import type { StreamLimits } from "../common/watchdog.js";

const GOOGLE_BASE_URL = "https://generativelanguage.googleapis.com";
const KEY_HEADER = "x-goog-api-key";
/** The vendor's maximum. */
const LIST_PAGE_SIZE = 1_000;

/** Never retries and reads nothing from the environment; see `ModelProvider`. */
export function createGoogleProvider(settings: ProviderSettings, limits: StreamLimits): ModelProvider {
  const client = new GoogleGenAI({
    // Explicit, or the SDK would read them from the environment.
    vertexai: false,
    apiKey: settings.apiKey === "" ? "none" : settings.apiKey,
    // The SDK appends the version itself; a base URL that already ends with it would answer 404.
    httpOptions: { baseUrl: (settings.baseUrl ?? GOOGLE_BASE_URL).replace(/\/+(v1(beta|alpha)?\/*)?$/, "") },
  });
  return {
    stream: (request, signal) =>
      runModelCall({ settings, limits, signal }, () => {
        requireKey(settings);
        const options = parseOptions(googleOptionsSchema, request.options, settings);
        const conflict = optionsConflict(request, options);
        if (conflict !== undefined) throw conflictError(conflict, settings);
        const { config, ...prompt } = buildGoogleRequest(request, options);
        const call = observeResponses(settings);
        const open = async (abortSignal: AbortSignal) => {
          const httpOptions = { ...call.httpOptions, headers: request.headers };
          const params = { ...prompt, config: { ...config, abortSignal, httpOptions } };
          return call.explain(await call.explained(client.models.generateContentStream(params)));
        };
        return { open, reader: createGoogleReader(request.model) };
      }),
    async findContextLimit(model: string, signal: AbortSignal) {
      requireKey(settings);
      const call = observeResponses(settings);
      try {
        const config = { abortSignal: signal, httpOptions: call.httpOptions };
        const { inputTokenLimit } = await call.explained(client.models.get({ model, config }));
        return inputTokenLimit ?? null;
      } catch (error) {
        throw toModelCallError(error, settings, limits.clock.now());
      }
    },
    async listModels(signal: AbortSignal) {
      requireKey(settings);
      const call = observeResponses(settings);
      try {
        const config = { abortSignal: signal, httpOptions: call.httpOptions, pageSize: LIST_PAGE_SIZE };
        const entries = await call.explained(client.models.list({ config }));
        return await collectListed(call.explain(entries), readEntry);
      } catch (error) {
        throw toModelCallError(error, settings, limits.clock.now());
      }
    },
  };
}

/** Skips models that cannot generate text: the list also has embedding and image models. */
function readEntry({ name, displayName, supportedActions, ...entry }: Model) {
  if (supportedActions !== undefined && !supportedActions.includes("generateContent")) return undefined;
  return readListed(name?.replace(/^models\//, ""), displayName, entry);
}

function requireKey(settings: ProviderSettings): void {
  if (settings.apiKey === "" && settings.baseUrl === undefined) throw missingKeyError(settings);
}

function conflictError(conflict: string, { kind, displayName }: ProviderSettings): ModelCallError {
  const message = `${displayName} cannot be called with this model's options: ${conflict}.`;
  return new ModelCallError({ kind: "config", message, provider: kind, isRetryable: false }, undefined);
}

/** Observes one call's responses: the SDK's errors lack their headers and, for unusual bodies, their status. */
function observeResponses({ apiKey, fetch: own = fetch }: ProviderSettings) {
  let refusal: Refusal | undefined;
  let broken: unknown;
  const httpOptions: HttpOptions = {
    fetch: async (url, init) => {
      const headers = new Headers(init?.headers);
      if (apiKey === "") headers.delete(KEY_HEADER);
      const response = await own(url instanceof Request ? url.url : url, { ...init, headers }).catch(
        (error: unknown) => {
          broken = error;
          throw error;
        },
      );
      if (!response.ok) refusal = { status: response.status, headers: response.headers };
      return response;
    },
  };
  const explained = async <Result>(reply: Promise<Result>): Promise<Result> => {
    try {
      return await reply;
    } catch (error) {
      // The SDK keeps only the message of a network error.
      throw isOwnError(broken) ? broken : explainGoogleError(error, refusal);
    }
  };
  async function* explain<Event>(stream: AsyncIterable<Event>): AsyncGenerator<Event, void, undefined> {
    try {
      yield* stream;
    } catch (error) {
      throw explainGoogleError(error, refusal);
    }
  }
  return { httpOptions, explained, explain };
}
