/** What admins make of model providers and models. A transaction that changes any of them calls `lockModels` first. */
import type { Queryable, Statement } from "../common/database.js";
import { Parameters, type WrittenColumn, writtenColumn, writtenColumns } from "../common/entity-columns.js";
import { ModelConfigEntity } from "./model-config.entity.js";
import { ModelProviderEntity } from "./model-provider.entity.js";
import {
  configColumns,
  type ModelConfigDbRow,
  type ModelConfigRecord,
  PRICES,
  providerColumns,
  type ProviderDbRow,
  type ProviderRecord,
  toModelConfig,
  toProvider,
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

const PROVIDER_ID = writtenColumn(ModelProviderEntity, "id", ({ id }: ProviderValues) => id);
const PROVIDER: readonly WrittenColumn<ProviderValues>[] = [
  ...writtenColumns(ModelProviderEntity, [
    ...(["kind", "displayName", "baseUrl", "openaiApi", "isEnabled", "keyPolicy"] as const),
    ...(["allowsPrivateAddresses", "isAddressOwn", "isFormatOwn"] as const),
  ]),
  writtenColumn(ModelProviderEntity, "apiKey", ({ sealedKey }) => sealedKey),
];

const INSERT_PROVIDER = (() => {
  const parameters = new Parameters<ProviderValues>();
  const text = `INSERT INTO model_providers AS p ${parameters.row([PROVIDER_ID, ...PROVIDER])} RETURNING ${providerColumns}`;
  return { parameters, statement: { name: "models.create-provider", text } };
})();

/** The caller has seen that the name is free. */
export async function insertProvider(db: Queryable, values: ProviderValues): Promise<ProviderRecord> {
  const { statement, parameters } = INSERT_PROVIDER;
  return toProvider(demand(await db.query<ProviderDbRow>(statement, parameters.valuesOf(values))));
}

const UPDATE_PROVIDER = (() => {
  const parameters = new Parameters<ProviderValues>();
  const text = `UPDATE model_providers p SET ${parameters.assignments(PROVIDER)}, updated_at = now()
    WHERE p.id = ${parameters.add(PROVIDER_ID)} AND p.deleted_at IS NULL
    RETURNING ${providerColumns}`;
  return { parameters, statement: { name: "models.update-provider", text } };
})();

/** All of it. Throws when it is gone. */
export async function updateProvider(db: Queryable, values: ProviderValues): Promise<ProviderRecord> {
  const { statement, parameters } = UPDATE_PROVIDER;
  return toProvider(demand(await db.query<ProviderDbRow>(statement, parameters.valuesOf(values))));
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

const CONFIG_ID = writtenColumn(ModelConfigEntity, "id", ({ id }: ModelConfigValues) => id);
const CONFIG: readonly WrittenColumn<ModelConfigValues>[] = [
  ...writtenColumns(ModelConfigEntity, [
    ...(["providerId", "model", "displayName", "contextLimit", "compactionThresholdPercent"] as const),
    ...(["maxOutputTokens", "providerOptions", "isEnabled"] as const),
  ]),
  ...PRICES,
  writtenColumn(ModelConfigEntity, "isEdited", () => true),
];

const INSERT_CONFIG = (() => {
  const parameters = new Parameters<ModelConfigValues>();
  const text = `INSERT INTO model_configs AS m ${parameters.row([CONFIG_ID, ...CONFIG])} RETURNING ${configColumns}`;
  return { parameters, statement: { name: "models.create-config", text } };
})();

/** The caller has seen that the name is free at the provider. */
export async function insertConfig(db: Queryable, values: ModelConfigValues): Promise<ModelConfigRecord> {
  const { statement, parameters } = INSERT_CONFIG;
  return toModelConfig(demand(await db.query<ModelConfigDbRow>(statement, parameters.valuesOf(values))));
}

const UPDATE_CONFIG = (() => {
  const parameters = new Parameters<ModelConfigValues>();
  const limits = writtenColumns(ModelConfigEntity, ["contextLimit", "maxOutputTokens"]);
  const [contextLimit, maxOutputTokens] = limits.map((column) => parameters.add(column));
  const text = `UPDATE model_configs m SET ${parameters.assignments(CONFIG)},
      observed_context_limit = CASE WHEN context_limit IS NOT DISTINCT FROM ${contextLimit} THEN observed_context_limit END,
      observed_output_limit = CASE WHEN max_output_tokens IS NOT DISTINCT FROM ${maxOutputTokens}
        THEN observed_output_limit END,
      updated_at = now()
    WHERE m.id = ${parameters.add(CONFIG_ID)} AND m.deleted_at IS NULL
    RETURNING ${configColumns}`;
  return { parameters, statement: { name: "models.update-config", text } };
})();

/** All but whether it is the default; another limit applies until a vendor's answer shows less. Throws when it is gone. */
export async function updateConfig(db: Queryable, values: ModelConfigValues): Promise<ModelConfigRecord> {
  const { statement, parameters } = UPDATE_CONFIG;
  return toModelConfig(demand(await db.query<ModelConfigDbRow>(statement, parameters.valuesOf(values))));
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

function demand<Row>([row]: Row[]): Row {
  if (row === undefined) throw new Error("A provider or model went away while models were locked.");
  return row;
}
