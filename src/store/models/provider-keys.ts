/** Keys for model providers: the deployment's, sealed in the provider's row, and people's own. */
import { randomUUID } from "node:crypto";
import type { Queryable, Statement } from "../common/database.js";
import type { SecretBox, SecretPlace } from "../common/secret-box.js";
import { secretPlace } from "../common/secret-columns.js";

/** The place of the deployment's key. */
export function providerKeyPlace(providerId: string): SecretPlace {
  return secretPlace("model_providers", "api_key", providerId);
}

/** The place of a person's own key. */
export function personalKeyPlace(id: string): SecretPlace {
  return secretPlace("user_provider_keys", "api_key", id);
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

/** Takes the place of the person's former key for the provider. */
export async function setPersonalKey(
  db: Queryable,
  box: SecretBox,
  { userId, providerId, key }: Whose & { key: string },
): Promise<void> {
  const id = randomUUID();
  await db.query(SET, [id, userId, providerId, box.seal(key, personalKeyPlace(id))]);
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

/** Still sealed; null when the person gave none. */
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

/** For which providers the person has given a key. */
export async function listProvidersWithKey(db: Queryable, userId: string): Promise<Set<string>> {
  const rows = await db.query<{ providerId: string }>(PROVIDERS_OF, [userId]);
  return new Set(rows.map(({ providerId }) => providerId));
}
