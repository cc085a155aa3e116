/** The deployment's settings: one row of `settings`, which a migration inserts. */
import { type DeploymentSettings, UNSET_DEPLOYMENT } from "../../domain/common/deployment-rules.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { Queryable, Statement } from "./database.js";
import { fromJsonb } from "./jsonb-text.js";
import { setSetting } from "./settings.js";

const KEY = "deployment";

export type DeploymentSettingsRecord = DeploymentSettings & {
  updatedAt: Date;
  /** Null when they were never changed, or the user was deleted. */
  updatedBy: string | null;
};

type SettingDbRow = { value: JsonObject; updatedAt: Date; updatedBy: string | null };

/** Index: settings_pkey. */
const text = `SELECT value, updated_at AS "updatedAt", updated_by AS "updatedBy" FROM settings WHERE key = $1`;
const READ: Statement = { name: "deployment-settings.read", text };
const LOCK: Statement = { name: "deployment-settings.lock", text: `${text} FOR UPDATE` };

export async function readDeploymentSettings(db: Queryable): Promise<DeploymentSettingsRecord> {
  return toRecord(await db.query<SettingDbRow>(READ, [KEY]));
}

/** The same, with the row locked until the transaction ends. */
export async function lockDeploymentSettings(transaction: Queryable): Promise<DeploymentSettingsRecord> {
  return toRecord(await transaction.query<SettingDbRow>(LOCK, [KEY]));
}

/** Returns the settings as written. */
export async function writeDeploymentSettings(
  transaction: Queryable,
  settings: DeploymentSettings,
  updatedBy: string,
): Promise<DeploymentSettingsRecord> {
  await setSetting(transaction, { key: KEY, value: settings, updatedBy });
  return readDeploymentSettings(transaction);
}

function toRecord([row]: SettingDbRow[]): DeploymentSettingsRecord {
  if (!row) throw new Error("The deployment's settings are missing from the database.");
  const { value, updatedAt, updatedBy } = row;
  const { systemPrompt, workspaceTtlMs, isDesktopEnabled, acquireBatchSize } = {
    ...UNSET_DEPLOYMENT,
    ...(fromJsonb(value) as Partial<DeploymentSettings>),
  };
  return { systemPrompt, workspaceTtlMs, isDesktopEnabled, acquireBatchSize, updatedAt, updatedBy };
}
