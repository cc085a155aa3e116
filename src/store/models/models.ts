/**
 * Model providers and model configurations. There are few rows, so lists are read whole. Deleted ones are in no list and
 * are found by id only, because messages and costs still refer to them.
 */
import type { ModelPricing } from "../../domain/usage/money.js";
import type { Queryable, Statement } from "../common/database.js";
import { selectionOf } from "../common/entity-columns.js";
import { ModelConfigEntity } from "./model-config.entity.js";
import { ModelProviderEntity } from "./model-provider.entity.js";
import { fromJsonb } from "../common/jsonb-text.js";

const provider = selectionOf(ModelProviderEntity, "p", [
  ...([
    "id",
    "kind",
    "displayName",
    "baseUrl",
    "openaiApi",
    "apiKeyVariable",
    "isDemo",
    "isEnabled",
  ] as const),
  ...(["keyPolicy", "allowsPrivateAddresses", "isAddressOwn", "isFormatOwn", "createdAt"] as const),
]);

/** For statements that return a `ProviderRecord`; the table's alias is `p`. */
export const providerColumns = `${provider.columns}, p.deleted_at IS NOT NULL AS "isDeleted",
  p.api_key AS "sealedKey"`;

export type ProviderRecord = ReturnType<(typeof provider)["read"]> & {
  isDeleted: boolean;
  /** Sealed, see `providerKeyReference`; null = none was given to the API. */
  sealedKey: string | null;
};

const config = selectionOf(ModelConfigEntity, "m", [
  ...(["id", "providerId", "model", "displayName", "contextLimit", "observedContextLimit"] as const),
  ...(["observedOutputLimit", "compactionThresholdPercent", "maxOutputTokens", "providerOptions"] as const),
  ...(["isEnabled", "isDefault", "isEdited", "createdAt"] as const),
]);

/** For statements whose rows go to `toModelConfig`; the table's alias is `m`. */
export const configColumns = `${config.columns}, m.deleted_at IS NOT NULL AS "isDeleted",
  CASE WHEN m.price_input IS NOT NULL THEN json_build_object('input', m.price_input::text,
    'output', m.price_output::text, 'cacheRead', m.price_cache_read::text,
    'cacheWrite', m.price_cache_write::text) END AS pricing`;

export type ModelConfigRecord = ReturnType<(typeof config)["read"]> & {
  /** Null = unpriced: its cost is not known. */
  pricing: ModelPricing | null;
  isDeleted: boolean;
};

export function toModelConfig(row: ModelConfigRecord): ModelConfigRecord {
  return { ...row, providerOptions: fromJsonb(row.providerOptions) };
}

const LIST_PROVIDERS: Statement = {
  name: "models.providers",
  text: `SELECT ${providerColumns} FROM model_providers p WHERE p.deleted_at IS NULL OR $1
    ORDER BY p.created_at, p.kind, p.id`,
};

/** Oldest first. */
export async function listProviders(
  db: Queryable,
  { includeDeleted = false } = {},
): Promise<ProviderRecord[]> {
  return db.query<ProviderRecord>(LIST_PROVIDERS, [includeDeleted]);
}

const FIND_PROVIDERS: Statement = {
  name: "models.find-providers",
  text: `SELECT ${providerColumns} FROM model_providers p WHERE p.id = ANY($1::uuid[])`,
};

/** In no order, deleted ones too. */
export async function findProvidersByIds(db: Queryable, ids: readonly string[]): Promise<ProviderRecord[]> {
  return db.query<ProviderRecord>(FIND_PROVIDERS, [ids]);
}

const FIND_OF_TURN: Statement = {
  name: "models.find-provider-of-turn",
  text: `
    SELECT ${providerColumns}, EXISTS (SELECT FROM model_providers o
      WHERE o.key_policy <> 'deployment' AND o.is_enabled AND o.deleted_at IS NULL) AS "asksKeys"
    FROM model_providers p WHERE p.id = $1`,
};

/** Deleted ones too. `asksKeys`: whether any provider uses users' own keys. */
export async function findProviderOfTurn(
  db: Queryable,
  id: string,
): Promise<{ provider: ProviderRecord; asksKeys: boolean } | null> {
  const [row] = await db.query<ProviderRecord & { asksKeys: boolean }>(FIND_OF_TURN, [id]);
  if (!row) return null;
  const { asksKeys, ...provider } = row;
  return { provider, asksKeys };
}

const LIST_CONFIGS: Statement = {
  name: "models.configs",
  text: `
    SELECT ${configColumns} FROM model_configs m JOIN model_providers p ON p.id = m.provider_id
    WHERE ($1 OR (m.is_enabled AND p.is_enabled)) AND (m.deleted_at IS NULL OR $2)
    ORDER BY m.created_at, p.kind, m.model, m.id`,
};

/** Oldest first. A model counts as disabled when its provider is. */
export async function listModelConfigs(
  db: Queryable,
  { includeDisabled, includeDeleted = false }: { includeDisabled: boolean; includeDeleted?: boolean },
): Promise<ModelConfigRecord[]> {
  const rows = await db.query<ModelConfigRecord>(LIST_CONFIGS, [includeDisabled, includeDeleted]);
  return rows.map(toModelConfig);
}

const FIND_CONFIGS: Statement = {
  name: "models.find-configs",
  text: `SELECT ${configColumns} FROM model_configs m WHERE m.id = ANY($1::uuid[])`,
};

/** In no order, disabled and deleted ones too. */
export async function findModelConfigsByIds(
  db: Queryable,
  ids: readonly string[],
): Promise<ModelConfigRecord[]> {
  return (await db.query<ModelConfigRecord>(FIND_CONFIGS, [ids])).map(toModelConfig);
}

const CONFIGS_OF_PROVIDERS: Statement = {
  name: "models.configs-of-providers",
  text: `
    SELECT ${configColumns} FROM model_configs m
    WHERE m.provider_id = ANY($1::uuid[]) AND m.deleted_at IS NULL
    ORDER BY m.created_at, m.id`,
};

/** Oldest first, disabled ones too; every provider asked for has an entry. */
export async function listConfigsOfProviders(
  db: Queryable,
  providerIds: readonly string[],
): Promise<Map<string, ModelConfigRecord[]>> {
  const rows = await db.query<ModelConfigRecord>(CONFIGS_OF_PROVIDERS, [providerIds]);
  const configs = new Map(providerIds.map((id) => [id, [] as ModelConfigRecord[]]));
  for (const row of rows) configs.get(row.providerId)?.push(toModelConfig(row));
  return configs;
}

const FIND_DEFAULT: Statement = {
  name: "models.default",
  text: `SELECT ${configColumns} FROM model_configs m WHERE m.is_default`,
};

/** The model of chats without a model of their own; null before the first start has created one. */
export async function findDefaultModelConfig(db: Queryable): Promise<ModelConfigRecord | null> {
  const [found] = await db.query<ModelConfigRecord>(FIND_DEFAULT, []);
  return found ? toModelConfig(found) : null;
}

const OBSERVE_LIMIT: Statement = {
  name: "models.observe-context-limit",
  text: `UPDATE model_configs SET observed_context_limit = $2
    WHERE id = $1 AND observed_context_limit IS DISTINCT FROM $2`,
};

/** Stores a model's context limit as a vendor's answer showed it. */
export async function observeContextLimit(db: Queryable, configId: string, tokens: number): Promise<void> {
  await db.query(OBSERVE_LIMIT, [configId, tokens]);
}

const OBSERVE_OUTPUT: Statement = {
  name: "models.observe-output-limit",
  text: `UPDATE model_configs SET observed_output_limit = $2
    WHERE id = $1 AND observed_output_limit IS DISTINCT FROM $2`,
};

/** Stores a model's output limit as a vendor's refusal showed it. */
export async function observeOutputLimit(db: Queryable, configId: string, tokens: number): Promise<void> {
  await db.query(OBSERVE_OUTPUT, [configId, tokens]);
}

const SET_PRICING: Statement = {
  name: "models.set-pricing",
  text: `UPDATE model_configs SET price_input = $2, price_output = $3, price_cache_read = $4, price_cache_write = $5
    WHERE id = $1`,
};

/** For calls from now on; earlier calls keep their cost. Null = unpriced. */
export async function setModelPricing(
  db: Queryable,
  configId: string,
  pricing: ModelPricing | null,
): Promise<void> {
  const { input, output, cacheRead, cacheWrite } = pricing ?? NO_PRICES;
  await db.query(SET_PRICING, [configId, input, output, cacheRead, cacheWrite]);
}

const NO_PRICES: ModelPricing = { input: null, output: null, cacheRead: null, cacheWrite: null };
