/** Keys for model providers: the deployment's, sealed in the provider's row, and users' own. */
import { randomUUID } from "node:crypto";
import type { Queryable, Statement } from "../common/database.js";
import type { SecretBox, ColumnReference } from "../common/secret-box.js";
import { columnReference } from "../common/secret-columns.js";

/** The column reference of the deployment's key. */
export function providerKeyReference(providerId: string): ColumnReference {
  return columnReference("model_providers", "api_key", providerId);
}

/** The column reference of a user's own key. */
export function userKeyReference(id: string): ColumnReference {
  return columnReference("user_provider_keys", "api_key", id);
}

const SET: Statement = {
  name: "provider-keys.set",
  // Sealed for its row, so a new key comes with a new id.
  text: `
    INSERT INTO user_provider_keys (id, user_id, provider_id, api_key) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id, provider_id) DO UPDATE
      SET id = excluded.id, api_key = excluded.api_key, created_at = now()`,
};

type Whose = { userId: string; providerId: string };

/** Replaces the user's former key for the provider. */
export async function setPersonalKey(
  db: Queryable,
  box: SecretBox,
  { userId, providerId, key }: Whose & { key: string },
): Promise<void> {
  const id = randomUUID();
  await db.query(SET, [id, userId, providerId, box.seal(key, userKeyReference(id))]);
}

const REMOVE: Statement = {
  name: "provider-keys.remove",
  text: "DELETE FROM user_provider_keys WHERE user_id = $1 AND provider_id = $2",
};

/** Also when there is none. */
export async function removePersonalKey(db: Queryable, { userId, providerId }: Whose): Promise<void> {
  await db.query(REMOVE, [userId, providerId]);
}

const FORGET: Statement = {
  name: "provider-keys.forget",
  // By user_provider_keys_provider_idx.
  text: "DELETE FROM user_provider_keys WHERE provider_id = $1",
};

/** Everybody's for that provider. */
export async function forgetPersonalKeys(db: Queryable, providerId: string): Promise<void> {
  await db.query(FORGET, [providerId]);
}

const FIND: Statement = {
  name: "provider-keys.find",
  // By user_provider_keys_person_key.
  text: `SELECT id, api_key AS sealed FROM user_provider_keys WHERE user_id = $1 AND provider_id = $2`,
};

/** Still sealed; null when the user has none. */
export async function findPersonalKey(
  db: Queryable,
  { userId, providerId }: Whose,
): Promise<{ id: string; sealed: string } | null> {
  const [found] = await db.query<{ id: string; sealed: string }>(FIND, [userId, providerId]);
  return found ?? null;
}

const PROVIDERS_OF: Statement = {
  name: "provider-keys.providers-of",
  // By user_provider_keys_person_key.
  text: `SELECT provider_id AS "providerId" FROM user_provider_keys WHERE user_id = $1`,
};

/** The providers for which the user has a key. */
export async function listProvidersWithKey(db: Queryable, userId: string): Promise<Set<string>> {
  const rows = await db.query<{ providerId: string }>(PROVIDERS_OF, [userId]);
  return new Set(rows.map(({ providerId }) => providerId));
}
