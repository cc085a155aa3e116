/**
 * Model providers and the models that people may choose; few rows, so lists are read whole. Deleted ones are in no list
 * and are found by their id alone: what was said and spent is told with their names.
 */
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { KeyPolicy } from "../../domain/models/model-keys.js";
import type { ModelPricing } from "../../domain/usage/money.js";
import type { Queryable, Statement } from "../common/database.js";
import { fromJsonb } from "../common/jsonb-text.js";

export type ProviderRecord = {
  id: string;
  kind: ModelProviderKind;
  displayName: string;
  /** Null = the vendor's own. May hold credentials. */
  baseUrl: string | null;
  openaiApi: "responses" | "chat";
  /** The environment variable with the key; null = it is not from the environment. */
  apiKeyVariable: string | null;
  /** The demo model inside the server; its address is not stored. */
  isDemo: boolean;
  isEnabled: boolean;
  keyPolicy: KeyPolicy;
  /** Whether an address that an admin chose may be in a private network. */
  allowsPrivateAddresses: boolean;
  /** An admin has chosen the address: the environment sets neither it nor the key any more. */
  isAddressOwn: boolean;
  /** An admin has chosen the wire format: the environment does not set it any more. */
  isFormatOwn: boolean;
  isDeleted: boolean;
  createdAt: Date;
  /** Sealed, see `providerKeyPlace`; null = none was given to the API. */
  sealedKey: string | null;
};

export type ModelConfigRecord = {
  id: string;
  providerId: string;
  /** The vendor's own id of the model. */
  model: string;
  displayName: string;
  /** Tokens that fit into one call, as an administrator said; null = nobody did. */
  contextLimit: number | null;
  /** Tokens that fit into one call, as the vendor's list or its refusals showed; null = not seen yet. */
  observedContextLimit: number | null;
  /** Tokens of one answer that the model gives at most, as the vendor's refusals showed; null = not seen yet. */
  observedOutputLimit: number | null;
  /** Share of the context at which history is summarised; 0 to 100. */
  compactionThresholdPercent: number;
  /** Null = Parley's default. */
  maxOutputTokens: number | null;
  /** The vendor's own call options; the adapter reads them. */
  providerOptions: JsonObject;
  /** Null = unpriced; what it costs is not known. */
  pricing: ModelPricing | null;
  isEnabled: boolean;
  isDefault: boolean;
  /** An admin has made or changed it: the environment and the table of known models do not touch it. */
  isEdited: boolean;
  isDeleted: boolean;
  createdAt: Date;
};

/** For `SELECT`s and `RETURNING`s; the table's alias is `p`. */
export const providerColumns = `p.id, p.kind, p.display_name AS "displayName", p.base_url AS "baseUrl",
  p.openai_api AS "openaiApi", p.api_key_variable AS "apiKeyVariable", p.is_demo AS "isDemo",
  p.is_enabled AS "isEnabled", p.key_policy AS "keyPolicy", p.allows_private_addresses AS "allowsPrivateAddresses",
  p.is_address_own AS "isAddressOwn", p.is_format_own AS "isFormatOwn", p.deleted_at IS NOT NULL AS "isDeleted", p.api_key AS "sealedKey",
  p.created_at AS "createdAt"`;

/** For `SELECT`s and `RETURNING`s that end in `toModelConfig`; the table's alias is `m`. */
export const configColumns = `m.id, m.provider_id AS "providerId", m.model, m.display_name AS "displayName",
  m.context_limit AS "contextLimit", m.observed_context_limit AS "observedContextLimit",
  m.provider_options AS "providerOptions", m.compaction_threshold_percent AS "compactionThresholdPercent",
  m.max_output_tokens AS "maxOutputTokens", m.observed_output_limit AS "observedOutputLimit",
  CASE WHEN m.price_input IS NOT NULL THEN json_build_object('input', m.price_input::text,
    'output', m.price_output::text, 'cacheRead', m.price_cache_read::text,
    'cacheWrite', m.price_cache_write::text) END AS pricing, m.is_enabled AS "isEnabled", m.is_default AS "isDefault",
  m.is_edited AS "isEdited", m.deleted_at IS NOT NULL AS "isDeleted",
  m.created_at AS "createdAt"`;

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

/** Deleted ones too. `asksKeys`: whether any provider asks with people's own keys. */
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

/** What a chat without a choice of its own is answered by; null before the first start has made one. */
export async function findDefaultModelConfig(db: Queryable): Promise<ModelConfigRecord | null> {
  const [found] = await db.query<ModelConfigRecord>(FIND_DEFAULT, []);
  return found ? toModelConfig(found) : null;
}

const OBSERVE_LIMIT: Statement = {
  name: "models.observe-context-limit",
  text: `UPDATE model_configs SET observed_context_limit = $2
    WHERE id = $1 AND observed_context_limit IS DISTINCT FROM $2`,
};

/** Keeps what a vendor's answer showed of a model's context, for every replica. */
export async function observeContextLimit(db: Queryable, configId: string, tokens: number): Promise<void> {
  await db.query(OBSERVE_LIMIT, [configId, tokens]);
}

const OBSERVE_OUTPUT: Statement = {
  name: "models.observe-output-limit",
  text: `UPDATE model_configs SET observed_output_limit = $2
    WHERE id = $1 AND observed_output_limit IS DISTINCT FROM $2`,
};

/** Keeps what a vendor's refusal showed of the length of a model's answers, for every replica. */
export async function observeOutputLimit(db: Queryable, configId: string, tokens: number): Promise<void> {
  await db.query(OBSERVE_OUTPUT, [configId, tokens]);
}

const SET_PRICING: Statement = {
  name: "models.set-pricing",
  text: `UPDATE model_configs SET price_input = $2, price_output = $3, price_cache_read = $4, price_cache_write = $5
    WHERE id = $1`,
};

/** For calls from now on: what was written before keeps its cost. Null = unpriced. */
export async function setModelPricing(
  db: Queryable,
  configId: string,
  pricing: ModelPricing | null,
): Promise<void> {
  const { input, output, cacheRead, cacheWrite } = pricing ?? NO_PRICES;
  await db.query(SET_PRICING, [configId, input, output, cacheRead, cacheWrite]);
}

const NO_PRICES: ModelPricing = { input: null, output: null, cacheRead: null, cacheWrite: null };
