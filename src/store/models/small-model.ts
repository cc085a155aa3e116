/**
 * The deployment's small model: asked for little things beside the talk, such as titles, before a chat's own model.
 * PARLEY_SMALL_MODEL speaks when it changes; between changes the choice in the settings stands.
 */
import type { Database, Queryable, Statement } from "../common/database.js";
import { ensureModelConfig, type EnvironmentModels } from "./default-models.js";
import { getSetting, setSetting } from "../common/settings.js";

const SMALL_MODEL = "smallModelConfigId";
/** The last PARLEY_SMALL_MODEL that was applied. */
const APPLIED_SMALL_MODEL = "environmentSmallModel";

/** Serialises replicas that start together; any fixed number does. */
const SMALL_MODEL_LOCK = 7_276_006;
const LOCK: Statement = { name: "models.small-lock", text: "SELECT pg_advisory_xact_lock($1)" };

/**
 * Makes the model's configuration at the vendor that its name belongs to, and chooses it; without a `model` an
 * earlier choice of the environment ends. False when there is a `model` but no vendor with a key to ask it from.
 * After `ensureDefaultProviders`.
 */
export async function ensureSmallModel(
  db: Database,
  environment: EnvironmentModels,
  model: string | undefined,
): Promise<boolean> {
  return db.transaction(async (transaction) => {
    await transaction.query(LOCK, [SMALL_MODEL_LOCK]);
    if ((await getSetting(transaction, APPLIED_SMALL_MODEL)) === (model ?? null)) return true;
    const configId = model === undefined ? null : await ensureModelConfig(transaction, environment, model);
    if (model !== undefined && configId === null) return false;
    await setSetting(transaction, { key: APPLIED_SMALL_MODEL, value: model ?? null, updatedBy: null });
    await setSetting(transaction, { key: SMALL_MODEL, value: configId, updatedBy: null });
    return true;
  });
}

/** There is none any more if it was this one. */
export async function forgetSmallModel(db: Queryable, configIds: readonly string[]): Promise<void> {
  const current = await getSmallModelConfigId(db);
  if (current === null || !configIds.includes(current)) return;
  await setSetting(db, { key: SMALL_MODEL, value: null, updatedBy: null });
}

/** Null when there is none. */
export async function getSmallModelConfigId(db: Queryable): Promise<string | null> {
  const value = await getSetting(db, SMALL_MODEL);
  return typeof value === "string" ? value : null;
}
