/** Model providers and the models that people may choose; few rows, so lists are read whole. */
import type { ModelProviderKind } from "../domain/failures.js";
import type { JsonObject } from "../domain/json.js";
import type { Queryable, Statement } from "./database.js";

export type ProviderRecord = {
  id: string;
  kind: ModelProviderKind;
  displayName: string;
  /** Null = the vendor's own. May hold credentials. */
  baseUrl: string | null;
  openaiApi: "responses" | "chat";
  /** The environment variable with the key; null = no key is needed. */
  apiKeyVariable: string | null;
  /** The demo model inside the server; its address is not stored. */
  isDemo: boolean;
  isEnabled: boolean;
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
  /** Share of the context at which history is summarised; 0 to 100. */
  compactionThresholdPercent: number;
  /** Null = Parley's default. */
  maxOutputTokens: number | null;
  /** The vendor's own call options; the adapter reads them. */
  providerOptions: JsonObject;
  isEnabled: boolean;
  isDefault: boolean;
};

const providerColumns = `p.id, p.kind, p.display_name AS "displayName", p.base_url AS "baseUrl",
  p.openai_api AS "openaiApi", p.api_key_variable AS "apiKeyVariable", p.is_demo AS "isDemo",
  p.is_enabled AS "isEnabled"`;

const configColumns = `m.id, m.provider_id AS "providerId", m.model, m.display_name AS "displayName",
  m.context_limit AS "contextLimit", m.observed_context_limit AS "observedContextLimit",
  m.provider_options AS "providerOptions", m.compaction_threshold_percent AS "compactionThresholdPercent",
  m.max_output_tokens AS "maxOutputTokens", m.is_enabled AS "isEnabled", m.is_default AS "isDefault"`;

const LIST_PROVIDERS: Statement = {
  name: "models.providers",
  text: `SELECT ${providerColumns} FROM model_providers p ORDER BY p.created_at, p.kind, p.id`,
};

/** Oldest first. */
export async function listProviders(db: Queryable): Promise<ProviderRecord[]> {
  return db.query<ProviderRecord>(LIST_PROVIDERS, []);
}

const FIND_PROVIDERS: Statement = {
  name: "models.find-providers",
  text: `SELECT ${providerColumns} FROM model_providers p WHERE p.id = ANY($1::uuid[])`,
};

/** In no order. */
export async function findProvidersByIds(db: Queryable, ids: readonly string[]): Promise<ProviderRecord[]> {
  return db.query<ProviderRecord>(FIND_PROVIDERS, [ids]);
}

const LIST_CONFIGS: Statement = {
  name: "models.configs",
  text: `
    SELECT ${configColumns} FROM model_configs m JOIN model_providers p ON p.id = m.provider_id
    WHERE $1 OR (m.is_enabled AND p.is_enabled)
    ORDER BY m.created_at, p.kind, m.model, m.id`,
};

/** Oldest first. A model counts as disabled when its provider is. */
export async function listModelConfigs(
  db: Queryable,
  options: { includeDisabled: boolean },
): Promise<ModelConfigRecord[]> {
  return db.query<ModelConfigRecord>(LIST_CONFIGS, [options.includeDisabled]);
}

const FIND_CONFIGS: Statement = {
  name: "models.find-configs",
  text: `SELECT ${configColumns} FROM model_configs m WHERE m.id = ANY($1::uuid[])`,
};

/** In no order, disabled ones too. */
export async function findModelConfigsByIds(
  db: Queryable,
  ids: readonly string[],
): Promise<ModelConfigRecord[]> {
  return db.query<ModelConfigRecord>(FIND_CONFIGS, [ids]);
}

const CONFIGS_OF_PROVIDERS: Statement = {
  name: "models.configs-of-providers",
  text: `
    SELECT ${configColumns} FROM model_configs m WHERE m.provider_id = ANY($1::uuid[])
    ORDER BY m.created_at, m.id`,
};

/** Oldest first, disabled ones too; every provider asked for has an entry. */
export async function listConfigsOfProviders(
  db: Queryable,
  providerIds: readonly string[],
): Promise<Map<string, ModelConfigRecord[]>> {
  const rows = await db.query<ModelConfigRecord>(CONFIGS_OF_PROVIDERS, [providerIds]);
  const configs = new Map(providerIds.map((id) => [id, [] as ModelConfigRecord[]]));
  for (const row of rows) configs.get(row.providerId)?.push(row);
  return configs;
}

const FIND_DEFAULT: Statement = {
  name: "models.default",
  text: `SELECT ${configColumns} FROM model_configs m WHERE m.is_default`,
};

/** What a chat without a choice of its own is answered by; null before the first start has made one. */
export async function findDefaultModelConfig(db: Queryable): Promise<ModelConfigRecord | null> {
  const [found] = await db.query<ModelConfigRecord>(FIND_DEFAULT, []);
  return found ?? null;
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
