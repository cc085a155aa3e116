/** A model's context window from the list of models that an OpenAI-like server keeps. */
import type OpenAI from "openai";
import { findContextLimitIn } from "./context-limit.js";
import { toModelCallError } from "./errors.js";
import { connectionProblem } from "./openai-client.js";
import type { ProviderSettings } from "./types.js";
import type { StreamLimits } from "./watchdog.js";

/** The largest router lists a few hundred; a list that never ends is not read to its end. */
const LISTED_MODELS_LIMIT = 5_000;

type Question = { settings: ProviderSettings; limits: StreamLimits; model: string; signal: AbortSignal };

/**
 * See `ModelProvider.findContextLimit`. OpenAI's own list and Azure's say nothing of it and are not asked; gateways
 * before OpenAI and compatible servers often do. A server without a list, or an aborted question, is null.
 */
export async function findOpenaiContextLimit(
  client: OpenAI,
  { settings, limits, model, signal }: Question,
): Promise<number | null> {
  if (settings.kind === "azure_openai" || settings.baseUrl === undefined || signal.aborted) return null;
  const problem = connectionProblem(settings);
  if (problem !== undefined) throw problem;
  try {
    let listed = 0;
    for await (const entry of client.models.list({ signal, timeout: limits.startupTimeoutMs })) {
      if (entry.id === model) return findContextLimitIn(entry) ?? null;
      if (++listed >= LISTED_MODELS_LIMIT) return null;
    }
    return null;
  } catch (error) {
    if (signal.aborted) return null;
    const failure = toModelCallError(error, settings, limits.clock.now());
    const status = failure.failure.httpStatus;
    if (status === 404 || status === 405 || status === 501) return null;
    throw failure;
  }
}
