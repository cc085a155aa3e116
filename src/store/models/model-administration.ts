/** What admins make of model providers and models. A transaction that changes any of them calls `lockModels` first. */
import { toJsonb } from "../common/jsonb-text.js";
import type { Queryable, Statement } from "../common/database.js";
import {
  configColumns,
  type ModelConfigRecord,
  providerColumns,
  type ProviderRecord,
  toModelConfig,
} from "./models.js";

/** Serialises replicas that start together, and admins who change models; any fixed number does. */
const MODELS_LOCK = 7_276_003;
const LOCK: Statement = { name: "models.lock", text: "SELECT pg_advisory_xact_lock($1)" };

/**
 * Locks providers and models until the transaction ends: which one is the default hangs on several
 * rows, and changes are rare.
 */
export async function lockModels(transaction: Queryable): Promise<void> {
  await transaction.query(LOCK, [MODELS_LOCK]);
}

/** What an admin's change writes of a provider. */
export type ProviderValues = Omit<ProviderRecord, "isDemo" | "isDeleted" | "apiKeyVariable" | "createdAt">;

const INSERT_PROVIDER: Statement = {
  name: "models.create-provider",
  text: `
    INSERT INTO model_providers AS p (id, kind, display_name, base_url, openai_api, is_enabled, key_policy,
      allows_private_addresses, is_address_own, api_key, is_format_own)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    RETURNING ${providerColumns}`,
};

/** The caller has seen that the name is free. */
export async function insertProvider(db: Queryable, values: ProviderValues): Promise<ProviderRecord> {
  return demand((await db.query<ProviderRecord>(INSERT_PROVIDER, providerValues(values)))[0]);
}

const UPDATE_PROVIDER: Statement = {
  name: "models.update-provider",
  text: `
    UPDATE model_providers p SET kind = $2, display_name = $3, base_url = $4, openai_api = $5, is_enabled = $6,
      key_policy = $7, allows_private_addresses = $8, is_address_own = $9, api_key = $10, is_format_own = $11, updated_at = now()
    WHERE p.id = $1 AND p.deleted_at IS NULL
    RETURNING ${providerColumns}`,
};

/** All of it. Throws when it is gone. */
export async function updateProvider(db: Queryable, values: ProviderValues): Promise<ProviderRecord> {
  return demand((await db.query<ProviderRecord>(UPDATE_PROVIDER, providerValues(values)))[0]);
}

const DELETE_PROVIDER: Statement = {
  name: "models.delete-provider",
  // By model_configs_provider_idx and user_provider_keys_provider_idx.
  text: `
    WITH keys AS (DELETE FROM user_provider_keys WHERE provider_id = $1),
      models AS (
        UPDATE model_configs SET deleted_at = now(), is_edited = true WHERE provider_id = $1 AND deleted_at IS NULL)
    UPDATE model_providers p SET deleted_at = now(), updated_at = now(), api_key = NULL WHERE p.id = $1
    RETURNING ${providerColumns}`,
};

/** With its models, its key and everybody's own keys for it. None of its models may be the default. */
export async function deleteProvider(db: Queryable, id: string): Promise<void> {
  await db.query(DELETE_PROVIDER, [id]);
}

/** What an admin's change writes of a model. */
export type ModelConfigValues = Omit<
  ModelConfigRecord,
  "observedContextLimit" | "observedOutputLimit" | "isDefault" | "isEdited" | "isDeleted" | "createdAt"
>;

const INSERT_CONFIG: Statement = {
  name: "models.create-config",
  text: `
    INSERT INTO model_configs AS m (id, provider_id, model, display_name, context_limit, compaction_threshold_percent,
      max_output_tokens, provider_options, price_input, price_output, price_cache_read, price_cache_write, is_enabled,
      is_edited)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, true)
    RETURNING ${configColumns}`,
};

/** The caller has seen that the name is free at the provider. */
export async function insertConfig(db: Queryable, values: ModelConfigValues): Promise<ModelConfigRecord> {
  return toModelConfig(demand((await db.query<ModelConfigRecord>(INSERT_CONFIG, configValues(values)))[0]));
}

const UPDATE_CONFIG: Statement = {
  name: "models.update-config",
  text: `
    UPDATE model_configs m SET provider_id = $2, model = $3, display_name = $4, context_limit = $5,
      compaction_threshold_percent = $6, max_output_tokens = $7, provider_options = $8, price_input = $9,
      observed_context_limit = CASE WHEN context_limit IS NOT DISTINCT FROM $5 THEN observed_context_limit END,
      observed_output_limit = CASE WHEN max_output_tokens IS NOT DISTINCT FROM $7 THEN observed_output_limit END,
      price_output = $10, price_cache_read = $11, price_cache_write = $12, is_enabled = $13, is_edited = true,
      updated_at = now()
    WHERE m.id = $1 AND m.deleted_at IS NULL
    RETURNING ${configColumns}`,
};

/** All but whether it is the default; another limit applies until a vendor's answer shows less. Throws when it is gone. */
export async function updateConfig(db: Queryable, values: ModelConfigValues): Promise<ModelConfigRecord> {
  return toModelConfig(demand((await db.query<ModelConfigRecord>(UPDATE_CONFIG, configValues(values)))[0]));
}

const DELETE_CONFIG: Statement = {
  name: "models.delete-config",
  text: `UPDATE model_configs SET deleted_at = now(), is_edited = true, updated_at = now()
    WHERE id = $1 AND deleted_at IS NULL`,
};

/** It must not be the default. */
export async function deleteConfig(db: Queryable, id: string): Promise<void> {
  await db.query(DELETE_CONFIG, [id]);
}

const CLEAR_DEFAULTS: Statement = {
  name: "models.clear-defaults",
  text: `UPDATE users SET default_model_config_id = NULL
    WHERE default_model_config_id IN (SELECT id FROM model_configs WHERE deleted_at IS NOT NULL)`,
};

/** Clears users' own defaults that are deleted models. Scans all users, once per deletion. */
export async function forgetDeletedDefaults(db: Queryable): Promise<void> {
  await db.query(CLEAR_DEFAULTS, []);
}

const CLEAR_DEFAULT: Statement = {
  name: "models.clear-default",
  text: "UPDATE model_configs SET is_default = false WHERE is_default AND id <> $1",
};
const SET_DEFAULT: Statement = {
  name: "models.set-default",
  text: "UPDATE model_configs SET is_default = true WHERE id = $1 AND NOT is_default",
};

/** Takes the default over from whichever model had it; it must be enabled. Two statements: the index is not deferrable. */
export async function makeDefault(transaction: Queryable, id: string): Promise<void> {
  await transaction.query(CLEAR_DEFAULT, [id]);
  await transaction.query(SET_DEFAULT, [id]);
}

function providerValues(values: ProviderValues): unknown[] {
  return [
    values.id,
    values.kind,
    values.displayName,
    values.baseUrl,
    values.openaiApi,
    values.isEnabled,
    values.keyPolicy,
    values.allowsPrivateAddresses,
    values.isAddressOwn,
    values.sealedKey,
    values.isFormatOwn,
  ];
}

function configValues(values: ModelConfigValues): unknown[] {
  const { pricing } = values;
  return [
    values.id,
    values.providerId,
    values.model,
    values.displayName,
    values.contextLimit,
    values.compactionThresholdPercent,
    values.maxOutputTokens,
    toJsonb(values.providerOptions),
    pricing?.input ?? null,
    pricing?.output ?? null,
    pricing?.cacheRead ?? null,
    pricing?.cacheWrite ?? null,
    values.isEnabled,
  ];
}

function demand<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error("A provider or model went away while models were locked.");
  return row;
}
