/** The deployment's settings: one row of `settings`, which a migration inserts. */
import { type DeploymentSettings, UNSET_DEPLOYMENT } from "../../domain/common/deployment-rules.js";
import type { Queryable, Statement } from "./database.js";
import { type Selected, selectionOf } from "./entity-columns.js";
import { SettingEntity } from "./setting.entity.js";
import { setSetting } from "./settings.js";

const KEY = "deployment";

/** Its `updatedBy` is null when they were never changed, or the user was deleted. */
export type DeploymentSettingsRecord = DeploymentSettings & Pick<SettingEntity, "updatedAt" | "updatedBy">;

const setting = selectionOf(SettingEntity, "", ["value", "updatedAt", "updatedBy"]);
type SettingDbRow = Selected<ReturnType<(typeof setting)["read"]>>;

/** Index: settings_pkey. */
const text = `SELECT ${setting.columns} FROM settings WHERE key = $1`;
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
  const { value, updatedAt, updatedBy } = setting.read(row);
  const { systemPrompt, workspaceTtlMs, isDesktopEnabled, acquireBatchSize } = {
    ...UNSET_DEPLOYMENT,
    ...(value as Partial<DeploymentSettings>),
  };
  return { systemPrompt, workspaceTtlMs, isDesktopEnabled, acquireBatchSize, updatedAt, updatedBy };
}
