// Inserts model providers and models straight into the database, for tests of what uses them.
import { randomUUID } from "node:crypto";
import type { Queryable } from "../../../src/store/common/database.js";
import {
  insertConfig,
  insertProvider,
  type ModelConfigValues,
  type ProviderValues,
} from "../../../src/store/models/model-administration.js";
import type { ModelConfigRecord, ProviderRecord } from "../../../src/store/models/models.js";

/** Defaults to Anthropic at its own address, without a key. */
export function insertSomeProvider(
  db: Queryable,
  overrides: Partial<ProviderValues> = {},
): Promise<ProviderRecord> {
  const id = randomUUID();
  return insertProvider(db, {
    ...{ id, kind: "anthropic", displayName: `Provider ${id}`, baseUrl: null, openaiApi: "responses" },
    ...{ keyPolicy: "deployment", isEnabled: true, allowsPrivateAddresses: true, sealedKey: null },
    ...{ isAddressOwn: true, isFormatOwn: true, ...overrides },
  });
}

/** Inserts a provider as well unless `overrides` name one. */
export async function insertSomeModel(
  db: Queryable,
  overrides: Partial<ModelConfigValues> = {},
): Promise<ModelConfigRecord> {
  const id = randomUUID();
  const providerId = overrides.providerId ?? (await insertSomeProvider(db)).id;
  return insertConfig(db, {
    ...{ id, model: "claude-next", displayName: `Model ${id}`, contextLimit: 200_000, pricing: null },
    ...{ compactionThresholdPercent: 70, maxOutputTokens: null, providerOptions: {}, isEnabled: true },
    ...overrides,
    providerId,
  });
}
