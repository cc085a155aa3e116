/**
 * The providers and models that a deployment has without anybody making them: from the keys in the environment, or
 * the demo model. The environment speaks when it changes; between changes the choice made in the API stands.
 */
import { randomUUID } from "node:crypto";
import type { ModelProviderKind } from "../domain/failures.js";
import type { Database, Queryable, Statement } from "./database.js";
import {
  type ModelConfigRecord,
  type ProviderRecord,
  findDefaultModelConfig,
  listModelConfigs,
  listProviders,
} from "./models.js";
import { getSetting, setSetting } from "./settings.js";

/** What the environment says about models; a vendor is present when its key is. Keys themselves never come here. */
export type EnvironmentModels = {
  anthropic?: { baseUrl?: string | undefined };
  openai?: { baseUrl?: string | undefined; api: "responses" | "chat" };
  google?: { baseUrl?: string | undefined };
  /** Azure has no address for all: each resource has its own. */
  azure_openai?: { baseUrl: string | undefined; api: "responses" | "chat" };
  /** The address tells the region. */
  bedrock?: { baseUrl: string | undefined };
  /** PARLEY_MODEL: the vendor's id of the model that is to be the default. */
  model?: string;
};

/** What stands for one vendor when nobody has said more. Context limits are in tokens, from the vendors' pages. */
const VENDORS = {
  anthropic: {
    keyVariable: "ANTHROPIC_API_KEY",
    displayName: "Anthropic",
    model: "claude-sonnet-5-5",
    contextLimit: 200_000,
  },
  openai: { keyVariable: "OPENAI_API_KEY", displayName: "OpenAI", model: "gpt-5", contextLimit: 400_000 },
  google: {
    keyVariable: "GEMINI_API_KEY",
    displayName: "Google",
    model: "gemini-3.8-flash",
    contextLimit: 1_048_576,
  },
  /** A deployment's name is its owner's choice; Azure proposes the model's. */
  azure_openai: {
    keyVariable: "AZURE_OPENAI_API_KEY",
    displayName: "Azure OpenAI",
    model: "gpt-5",
    contextLimit: 400_000,
  },
  /** An inference profile that every commercial region has. */
  bedrock: {
    keyVariable: "AWS_BEARER_TOKEN_BEDROCK",
    displayName: "Amazon Bedrock",
    model: "global.anthropic.claude-sonnet-5-5",
    contextLimit: 200_000,
  },
} as const;
type Vendor = keyof typeof VENDORS;
const VENDOR_ORDER: readonly Vendor[] = ["anthropic", "openai", "google", "azure_openai", "bedrock"];

const DEMO = {
  model: "parley-demo",
  displayName: "Demo model (scripted, no intelligence)",
  contextLimit: 200_000,
};

/** Serialises replicas that start together; any fixed number does. */
const DEFAULT_MODELS_LOCK = 7_276_003;
const LOCK: Statement = { name: "models.defaults-lock", text: "SELECT pg_advisory_xact_lock($1)" };

/** The last PARLEY_MODEL that was made the default, so that it is imposed once and not at every start. */
const APPLIED_MODEL = "environmentModel";

/**
 * Makes what is missing and returns the default. Afterwards exactly one model is the default: the one named by a
 * new PARLEY_MODEL; else the default so far, unless it is the demo or lost its key while another key is there.
 */
export async function ensureDefaultProviders(
  db: Database,
  environment: EnvironmentModels,
): Promise<{ provider: ProviderRecord; modelConfig: ModelConfigRecord }> {
  return db.transaction(async (transaction) => {
    await transaction.query(LOCK, [DEFAULT_MODELS_LOCK]);
    const present = VENDOR_ORDER.filter((vendor) => environment[vendor] !== undefined);
    const named = vendorOfModel(environment.model, present);
    const configs = new Map<Vendor, string>();
    for (const vendor of present) {
      const providerId = await ensureProvider(transaction, vendor, environment);
      const model = vendor === named ? environment.model : undefined;
      configs.set(vendor, await ensureConfig(transaction, vendor, { providerId, model }));
    }
    await chooseDefault(transaction, { environment, present, named, configs });
    return readDefault(transaction);
  });
}

/** Who may have a model of this name, the likeliest first. OpenAI's endpoint and Azure's may have any name. */
function likelyVendors(model: string): readonly Vendor[] {
  if (/^arn:aws|(^|\.)anthropic\./.test(model)) return ["bedrock"];
  if (model.startsWith("claude")) return ["anthropic"];
  if (/^((models|tunedModels)\/|gemini|gemma)/.test(model)) return ["google", "openai"];
  return ["openai", "azure_openai"];
}

function vendorOfModel(model: string | undefined, present: readonly Vendor[]): Vendor | undefined {
  if (model === undefined) return undefined;
  return likelyVendors(model).find((vendor) => present.includes(vendor)) ?? present[0];
}

/** The config of a further model, at the vendor that its name belongs to; null when no vendor has a key. */
export async function ensureModelConfig(
  transaction: Queryable,
  environment: EnvironmentModels,
  model: string,
): Promise<string | null> {
  const present = VENDOR_ORDER.filter((vendor) => environment[vendor] !== undefined);
  const vendor = vendorOfModel(model, present);
  if (!vendor) return null;
  const providerId = await ensureProvider(transaction, vendor, environment);
  return ensureConfig(transaction, vendor, { providerId, model });
}

type Choice = {
  environment: EnvironmentModels;
  present: readonly Vendor[];
  named: Vendor | undefined;
  configs: ReadonlyMap<Vendor, string>;
};

async function chooseDefault(db: Queryable, choice: Choice): Promise<void> {
  const { environment, present, named, configs } = choice;
  if (
    named &&
    environment.model !== undefined &&
    (await getSetting(db, APPLIED_MODEL)) !== environment.model
  ) {
    await setSetting(db, { key: APPLIED_MODEL, value: environment.model, updatedBy: null });
    return makeDefault(db, configs.get(named));
  }
  const current = await findDefaultModelConfig(db);
  const provider = (await listProviders(db)).find((it) => it.id === current?.providerId);
  const first = named ?? present[0];
  if (first === undefined) return provider ? undefined : makeDefault(db, await ensureDemo(db));
  const hasLostKey = VENDOR_ORDER.some(
    (vendor) => VENDORS[vendor].keyVariable === provider?.apiKeyVariable && !present.includes(vendor),
  );
  if (!provider || provider.isDemo || hasLostKey) return makeDefault(db, configs.get(first));
}

const INSERT_PROVIDER: Statement = {
  name: "models.insert-provider",
  text: `
    INSERT INTO model_providers (id, kind, display_name, base_url, openai_api, api_key_variable, is_demo)
    VALUES ($1, $2, $3, $4, $5, $6, $7)`,
};

const UPDATE_ADDRESS: Statement = {
  name: "models.update-provider-address",
  text: `
    UPDATE model_providers SET base_url = $2, openai_api = $3
    WHERE id = $1 AND (base_url, openai_api) IS DISTINCT FROM ($2, $3)`,
};

/** The provider whose key is in the environment has its address from there too, anew at each start. */
async function ensureProvider(
  db: Queryable,
  vendor: Vendor,
  environment: EnvironmentModels,
): Promise<string> {
  const { keyVariable, displayName } = VENDORS[vendor];
  const baseUrl = environment[vendor]?.baseUrl ?? null;
  const isOpenai = vendor === "openai" || vendor === "azure_openai";
  const openaiApi = (isOpenai ? environment[vendor]?.api : undefined) ?? "responses";
  const existing = (await listProviders(db)).find((it) => it.apiKeyVariable === keyVariable);
  if (existing) {
    const api = isOpenai ? openaiApi : existing.openaiApi;
    await db.query(UPDATE_ADDRESS, [existing.id, baseUrl, api]);
    return existing.id;
  }
  const id = randomUUID();
  const kind: ModelProviderKind = vendor;
  await db.query(INSERT_PROVIDER, [id, kind, displayName, baseUrl, openaiApi, keyVariable, false]);
  return id;
}

const INSERT_CONFIG: Statement = {
  name: "models.insert-config",
  text: `
    INSERT INTO model_configs (id, provider_id, model, display_name, context_limit)
    VALUES ($1, $2, $3, $4, $5)`,
};

/** The provider's config for the named model, else any that it has, else one for the vendor's usual model. */
async function ensureConfig(
  db: Queryable,
  vendor: Vendor,
  wanted: { providerId: string; model: string | undefined },
): Promise<string> {
  const own = (await listModelConfigs(db, { includeDisabled: true })).filter(
    (it) => it.providerId === wanted.providerId,
  );
  const existing = wanted.model === undefined ? own[0] : own.find((it) => it.model === wanted.model);
  if (existing) return existing.id;
  const id = randomUUID();
  const usual = VENDORS[vendor];
  const model = wanted.model ?? usual.model;
  // What another model can hold, nobody here knows; it is asked for or observed later.
  const contextLimit = model === usual.model ? usual.contextLimit : null;
  await db.query(INSERT_CONFIG, [id, wanted.providerId, model, model, contextLimit]);
  return id;
}

async function ensureDemo(db: Queryable): Promise<string> {
  const existing = (await listProviders(db)).find((it) => it.isDemo);
  const configs = await listModelConfigs(db, { includeDisabled: true });
  const config = configs.find((it) => it.providerId === existing?.id);
  if (config) return config.id;
  const providerId = existing?.id ?? randomUUID();
  if (!existing) {
    const values = [providerId, "anthropic", "Demo", null, "responses", null, true];
    await db.query(INSERT_PROVIDER, values);
  }
  const id = randomUUID();
  await db.query(INSERT_CONFIG, [id, providerId, DEMO.model, DEMO.displayName, DEMO.contextLimit]);
  return id;
}

const CLEAR_DEFAULT: Statement = {
  name: "models.clear-default",
  text: "UPDATE model_configs SET is_default = false WHERE is_default AND id <> $1",
};
const SET_DEFAULT: Statement = {
  name: "models.set-default",
  text: "UPDATE model_configs SET is_default = true WHERE id = $1 AND NOT is_default",
};

async function makeDefault(db: Queryable, id: string | undefined): Promise<void> {
  if (id === undefined) throw new Error("There is no model to make the default.");
  await db.query(CLEAR_DEFAULT, [id]);
  await db.query(SET_DEFAULT, [id]);
}

async function readDefault(
  db: Queryable,
): Promise<{ provider: ProviderRecord; modelConfig: ModelConfigRecord }> {
  const modelConfig = await findDefaultModelConfig(db);
  const provider = (await listProviders(db)).find((it) => it.id === modelConfig?.providerId);
  if (!modelConfig || !provider) throw new Error("No default model was made.");
  return { provider, modelConfig };
}
