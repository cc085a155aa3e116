/**
 * Model providers and model configurations. There are few rows, so lists are read whole. Deleted ones are in no list and
 * are found by id only, because messages and costs still refer to them.
 */
import type { ModelPricing } from "../../domain/usage/money.js";
import type { Queryable, Statement } from "../common/database.js";
import {
  Parameters,
  type Selected,
  selectionOf,
  type WrittenColumn,
  writtenColumn,
} from "../common/entity-columns.js";
import { ModelConfigEntity } from "./model-config.entity.js";
import { ModelProviderEntity } from "./model-provider.entity.js";

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

/** For statements whose rows go to `toProvider`; the table's alias is `p`. */
export const providerColumns = `${provider.columns}, p.deleted_at IS NOT NULL AS "isDeleted",
  p.api_key AS "sealedKey"`;

type ComputedOfProvider = {
  isDeleted: boolean;
  /** Sealed, see `providerKeyReference`; null = none was given to the API. */
  sealedKey: string | null;
};

export type ProviderRecord = ReturnType<(typeof provider)["read"]> & ComputedOfProvider;
export type ProviderDbRow = Selected<ReturnType<(typeof provider)["read"]>> & ComputedOfProvider;

export const toProvider: (row: ProviderDbRow) => ProviderRecord = provider.readWith({
  isDeleted: ({ isDeleted }: ProviderDbRow) => isDeleted,
  sealedKey: ({ sealedKey }: ProviderDbRow) => sealedKey,
});

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

type ComputedOfConfig = {
  /** Null = unpriced: its cost is not known. */
  pricing: ModelPricing | null;
  isDeleted: boolean;
};

export type ModelConfigRecord = ReturnType<(typeof config)["read"]> & ComputedOfConfig;
export type ModelConfigDbRow = Selected<ReturnType<(typeof config)["read"]>> & ComputedOfConfig;

export const toModelConfig: (row: ModelConfigDbRow) => ModelConfigRecord = config.readWith({
  pricing: ({ pricing }: ModelConfigDbRow) => pricing,
  isDeleted: ({ isDeleted }: ModelConfigDbRow) => isDeleted,
});

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
  return (await db.query<ProviderDbRow>(LIST_PROVIDERS, [includeDeleted])).map(toProvider);
}

const FIND_PROVIDERS: Statement = {
  name: "models.find-providers",
  text: `SELECT ${providerColumns} FROM model_providers p WHERE p.id = ANY($1::uuid[])`,
};

/** In no order, deleted ones too. */
export async function findProvidersByIds(db: Queryable, ids: readonly string[]): Promise<ProviderRecord[]> {
  return (await db.query<ProviderDbRow>(FIND_PROVIDERS, [ids])).map(toProvider);
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
  const [row] = await db.query<ProviderDbRow & { asksKeys: boolean }>(FIND_OF_TURN, [id]);
  return row ? { provider: toProvider(row), asksKeys: row.asksKeys } : null;
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
  const rows = await db.query<ModelConfigDbRow>(LIST_CONFIGS, [includeDisabled, includeDeleted]);
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
  return (await db.query<ModelConfigDbRow>(FIND_CONFIGS, [ids])).map(toModelConfig);
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
  const rows = await db.query<ModelConfigDbRow>(CONFIGS_OF_PROVIDERS, [providerIds]);
  const configs = new Map(providerIds.map((id) => [id, [] as ModelConfigRecord[]]));
  for (const config of rows.map(toModelConfig)) configs.get(config.providerId)?.push(config);
  return configs;
}

const FIND_DEFAULT: Statement = {
  name: "models.default",
  text: `SELECT ${configColumns} FROM model_configs m WHERE m.is_default`,
};

/** The model of chats without a model of their own; null before the first start has created one. */
export async function findDefaultModelConfig(db: Queryable): Promise<ModelConfigRecord | null> {
  const [found] = await db.query<ModelConfigDbRow>(FIND_DEFAULT, []);
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

type Priced = { pricing: ModelPricing | null };

/** The columns of a model's prices. */
export const PRICES: readonly WrittenColumn<Priced>[] = [
  writtenColumn(ModelConfigEntity, "priceInput", ({ pricing }) => pricing?.input ?? null),
  writtenColumn(ModelConfigEntity, "priceOutput", ({ pricing }) => pricing?.output ?? null),
  writtenColumn(ModelConfigEntity, "priceCacheRead", ({ pricing }) => pricing?.cacheRead ?? null),
  writtenColumn(ModelConfigEntity, "priceCacheWrite", ({ pricing }) => pricing?.cacheWrite ?? null),
];

const SET_PRICING = (() => {
  const parameters = new Parameters<Priced & { id: string }>();
  const id = parameters.add(writtenColumn(ModelConfigEntity, "id", (priced: { id: string }) => priced.id));
  const text = `UPDATE model_configs SET ${parameters.assignments(PRICES)} WHERE id = ${id}`;
  return { parameters, statement: { name: "models.set-pricing", text } };
})();

/** For calls from now on; earlier calls keep their cost. Null = unpriced. */
export async function setModelPricing(
  db: Queryable,
  configId: string,
  pricing: ModelPricing | null,
): Promise<void> {
  await db.query(SET_PRICING.statement, SET_PRICING.parameters.valuesOf({ id: configId, pricing }));
}
