/**
 * List of Claude models on Bedrock: inference profiles, and models that can be called without one. Bedrock lists them
 * on another host than it serves calls (`bedrock.` instead of `bedrock-runtime.`), in plain JSON.
 */
import { ModelCallError } from "../../domain/common/failures.js";
import { describeFailure, toModelCallError } from "../common/errors.js";
import { LISTED_MODELS_LIMIT, readListed } from "../common/listed-models.js";
import { isJsonObject } from "../common/prompt-parts.js";
import type { ListedModel, ProviderSettings } from "../types.js";

const PAGE_SIZE = 1_000;
/** Guards against an endless list. */
const MAX_PAGES = 10;

type ListRequest = { settings: ProviderSettings; address: string; signal: AbortSignal; nowMs: number };

/**
 * `address`: the endpoint of calls. Throws `ModelCallError`; null without an API key, as requests would need a
 * signature.
 */
export async function listBedrockModels(request: ListRequest): Promise<ListedModel[] | null> {
  if (request.settings.apiKey === "") return null;
  try {
    const profiles = await fetchPages(
      request,
      `inference-profiles?maxResults=${PAGE_SIZE}`,
      "inferenceProfileSummaries",
    );
    const models = await fetchPages(request, "foundation-models?byProvider=anthropic", "modelSummaries");
    const listed = [
      ...profiles.map((it) => readListed(it["inferenceProfileId"], it["inferenceProfileName"], it)),
      ...models.filter(isCalledByName).map((it) => readListed(it["modelId"], it["modelName"], it)),
    ];
    const claude = listed.flatMap((it) =>
      it !== undefined && /anthropic\.|^arn:/.test(it.model) ? [it] : [],
    );
    const once = new Map(claude.map((it) => [it.model, it]));
    return [...once.values()].slice(0, LISTED_MODELS_LIMIT);
  } catch (error) {
    throw toModelCallError(error, request.settings, request.nowMs);
  }
}

/** Newer models can be called through an inference profile only. */
function isCalledByName({ inferenceTypesSupported: types }: Record<string, unknown>): boolean {
  return Array.isArray(types) && types.includes("ON_DEMAND");
}

/** Public endpoints have a separate control-plane host; a gateway has one address. */
export function controlAddress(address: string): string {
  return address
    .replace(/\/+$/, "")
    .replace(/^(https?:\/\/(?:[^/]*\.)?)bedrock-runtime(-fips)?\./, "$1bedrock$2.");
}

async function fetchPages(
  { settings, address, signal }: ListRequest,
  path: string,
  field: string,
): Promise<Record<string, unknown>[]> {
  const send = settings.fetch ?? fetch;
  const found: Record<string, unknown>[] = [];
  let next: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const more = next === undefined ? "" : `&nextToken=${encodeURIComponent(next)}`;
    const headers = { authorization: `Bearer ${settings.apiKey}`, accept: "application/json" };
    const response = await send(`${controlAddress(address)}/${path}${more}`, { headers, signal });
    if (!response.ok) throw await refusalOf(response);
    const body: unknown = await response.json();
    if (!isJsonObject(body)) throw unreadable(settings);
    const entries = body[field];
    if (Array.isArray(entries)) found.push(...entries.filter(isJsonObject));
    const token = body["nextToken"];
    if (typeof token !== "string" || token === next || found.length >= LISTED_MODELS_LIMIT) break;
    next = token;
  }
  return found;
}

/** An error with the fields that `toModelCallError` reads. */
async function refusalOf(response: Response): Promise<Error> {
  const text = await response.text();
  return Object.assign(new Error(text), { status: response.status, headers: response.headers });
}

function unreadable({ kind, displayName }: ProviderSettings): ModelCallError {
  const message = describeFailure("config", displayName, undefined);
  return new ModelCallError({ kind: "config", message, provider: kind, isRetryable: false }, undefined);
}
