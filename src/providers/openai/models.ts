/** The model list of an OpenAI-like server: models and their context windows. */
import type OpenAI from "openai";
import { findContextLimitIn } from "../common/context-limit.js";
import { toModelCallError } from "../common/errors.js";
import { collectListed, readListed } from "../common/listed-models.js";
import { connectionProblem } from "./client.js";
import type { ListedModel, ProviderSettings } from "../types.js";
import type { StreamLimits } from "../common/watchdog.js";

/** The largest router lists a few hundred; guards against an endless list. */
const SCANNED_ENTRIES_LIMIT = 5_000;

type ListRequest = { settings: ProviderSettings; limits: StreamLimits; model: string; signal: AbortSignal };

/**
 * See `ModelProvider.findContextLimit`. OpenAI's own list and Azure's do not contain it and are not requested; those of
 * gateways and compatible servers often do. Null for a server without a list, and when aborted.
 */
export async function findOpenaiContextLimit(
  client: OpenAI,
  { settings, limits, model, signal }: ListRequest,
): Promise<number | null> {
  if (settings.kind === "azure_openai" || settings.baseUrl === undefined || signal.aborted) return null;
  const problem = connectionProblem(settings);
  if (problem !== undefined) throw problem;
  try {
    let listed = 0;
    for await (const entry of client.models.list({ signal, timeout: limits.startupTimeoutMs })) {
      if (entry.id === model) return findContextLimitIn(entry) ?? null;
      if (++listed >= SCANNED_ENTRIES_LIMIT) return null;
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

/** See `ModelProvider.listModels`. Null for Azure, whose list has the deployable models, not the deployments. */
export async function listOpenaiModels(
  client: OpenAI,
  { settings, limits, signal }: Omit<ListRequest, "model">,
): Promise<ListedModel[] | null> {
  if (settings.kind === "azure_openai") return null;
  const problem = connectionProblem(settings);
  if (problem !== undefined) throw problem;
  try {
    const nameOf = (entry: object): unknown => Reflect.get(entry, "name");
    return await collectListed(client.models.list({ signal }), (entry) =>
      readListed(entry.id, nameOf(entry), entry),
    );
  } catch (error) {
    throw toModelCallError(error, settings, limits.clock.now());
  }
}
