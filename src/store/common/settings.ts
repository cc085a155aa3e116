/** Settings of the deployment: JSON values by name. */
import type { JsonValue } from "../../domain/common/json.js";
import type { Queryable, Statement } from "./database.js";
import { fromJsonb, toJsonb } from "./jsonb-text.js";

const GET: Statement = { name: "settings.get", text: "SELECT value FROM settings WHERE key = $1" };

/** Null when it was never set. */
export async function getSetting(db: Queryable, key: string): Promise<JsonValue> {
  const [row] = await db.query<{ value: JsonValue }>(GET, [key]);
  return row ? fromJsonb(row.value) : null;
}

const SET: Statement = {
  name: "settings.set",
  text: `
    INSERT INTO settings (key, value, updated_by) VALUES ($1, $2, $3)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_by = excluded.updated_by, updated_at = now()`,
};

/** `updatedBy` is null when the server itself sets it. */
export async function setSetting(
  db: Queryable,
  setting: { key: string; value: JsonValue; updatedBy: string | null },
): Promise<void> {
  await db.query(SET, [setting.key, toJsonb(setting.value), setting.updatedBy]);
}
