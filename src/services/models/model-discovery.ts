/** Lists a provider's models for admins: bounded in time and size, without a cache. */
import { ModelCallError } from "../../domain/common/failures.js";
import {
  describeListed,
  discoveryFailure,
  type ModelDiscovery,
} from "../../domain/models/model-discovery.js";
import type { Clock } from "../../lib/clock.js";
import { OutboundLimitExceeded, OutboundRefused } from "../../lib/outbound/refused.js";
import type { ModelProvider, ProviderSettings } from "../../providers/types.js";
import type { Queryable } from "../../store/common/database.js";
import { listConfigsOfProviders, type ProviderRecord } from "../../store/models/models.js";
import type { ProviderEndpoints } from "./provider-endpoints.js";

/** For the whole list, however many pages it has. */
export const DISCOVERY_TIMEOUT_MS = 10_000;
/** Per page; the largest router's whole list has a tenth of it. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Depth of nested causes: the guard's error is below those of the SDK and of the connection. */
const MAX_CAUSES = 6;

export type DiscoveryDependencies = {
  database: Queryable;
  clock: Clock;
  endpoints: ProviderEndpoints;
  createAdapter(settings: ProviderSettings): Promise<ModelProvider>;
};

/** Uses that user's own key where the provider takes personal keys. Never rejects for a failure of the provider. */
export async function discoverModels(
  dependencies: DiscoveryDependencies,
  provider: ProviderRecord,
  userId: string,
): Promise<ModelDiscovery> {
  const endpoint = await dependencies.endpoints.find(provider, userId);
  if (!endpoint.ok) return { ok: false, failure: discoveryFailure(endpoint.failure, "silent") };
  const limits = { timeoutMs: DISCOVERY_TIMEOUT_MS, maxBodyBytes: MAX_ANSWER_BYTES };
  // An address from the environment may be anywhere; its answer is bounded all the same.
  const reach = endpoint.isGuarded ? provider : { ...provider, allowsPrivateAddresses: true };
  const send = dependencies.endpoints.fetchFor(reach, limits);
  let hasAnswered = false;
  const watched: typeof send = async (url, init) => {
    const response = await send(url, init);
    hasAnswered = true;
    return response;
  };
  const adapter = await dependencies.createAdapter({ ...endpoint.settings, fetch: watched });
  const patience = new AbortController();
  const cancel = dependencies.clock.after(DISCOVERY_TIMEOUT_MS, () => patience.abort());
  try {
    const listed = await adapter.listModels(patience.signal);
    if (patience.signal.aborted) return tooSlow(provider);
    if (listed === null) return unsupported(provider);
    const configs =
      (await listConfigsOfProviders(dependencies.database, [provider.id])).get(provider.id) ?? [];
    const configured = new Set(configs.map(({ model }) => model));
    return { ok: true, models: describeListed(listed, { kind: provider.kind, configured }) };
  } catch (error) {
    if (patience.signal.aborted || hasCause(error, OutboundLimitExceeded)) return tooSlow(provider);
    if (!(error instanceof ModelCallError)) throw error;
    const fate = hasCause(error, OutboundRefused) ? "blocked" : hasAnswered ? "answered" : "silent";
    return { ok: false, failure: discoveryFailure(error.failure, fate) };
  } finally {
    cancel();
  }
}

function tooSlow({ displayName }: ProviderRecord): ModelDiscovery {
  const message = `${displayName} did not list its models within ${DISCOVERY_TIMEOUT_MS / 1_000} seconds, or its list is too long.`;
  return { ok: false, failure: { kind: "timeout", message } };
}

function unsupported({ displayName, kind }: ProviderRecord): ModelDiscovery {
  const reason =
    kind === "azure_openai"
      ? "Azure does not list a resource's deployments with its key. Enter them as they are named there."
      : "Its models can only be listed with an API key and a base URL that names the region.";
  return {
    ok: false,
    failure: { kind: "unsupported", message: `${displayName} cannot list its models. ${reason}` },
  };
}

function hasCause(error: unknown, wanted: new (...given: never[]) => Error, depth = 0): boolean {
  if (error instanceof wanted) return true;
  return error instanceof Error && depth < MAX_CAUSES && hasCause(error.cause, wanted, depth + 1);
}
