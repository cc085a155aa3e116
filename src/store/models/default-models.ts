/**
 * The providers and models that a deployment has without anybody making them: from the keys in the environment, or
 * the demo model. The environment speaks when it changes; between changes the choice made in the API stands: what an
 * admin has deleted is not made again, what an admin has switched off is not used, and an address that an admin has
 * chosen is not the environment's any more.
 */
import { randomUUID } from "node:crypto";
import { findKnownModel, KNOWN_MODELS_EDITION, knownPricing } from "../../domain/models/known-models.js";
import { keyVariableOf } from "../../domain/models/model-keys.js";
import type { ModelPricing } from "../../domain/usage/money.js";
import type { Database, Queryable, Statement } from "../common/database.js";
import { Parameters, writtenColumns } from "../common/entity-columns.js";
import { lockModels, makeDefault } from "./model-administration.js";
import { ModelConfigEntity } from "./model-config.entity.js";
import { ModelProviderEntity } from "./model-provider.entity.js";
import {
  type ModelConfigRecord,
  type ProviderRecord,
  findDefaultModelConfig,
  listModelConfigs,
  listProviders,
  setModelPricing,
} from "./models.js";
import { getSetting, setSetting } from "../common/settings.js";

/** What the environment says about models; a vendor is present when its key is. Keys themselves never come here. */
export type EnvironmentModels = {
  anthropic?: { baseUrl?: string | undefined };
  openai?: { baseUrl?: string | undefined; api: "responses" | "chat" };
  google?: { baseUrl?: string | undefined };
  /** Azure has no address for all: each resource has its own. */
  azure_openai?: { baseUrl: string | undefined; api: "responses" | "chat" };
  /** The address contains the region. */
  bedrock?: { baseUrl: string | undefined };
  /** PARLEY_MODEL: the vendor's id of the model that is to be the default. */
  model?: string;
};

/** One vendor's defaults where nothing is configured. */
const VENDORS = {
  anthropic: {
    keyVariable: "ANTHROPIC_API_KEY",
    displayName: "Anthropic",
    model: "claude-sonnet-5-5",
  },
  openai: { keyVariable: "OPENAI_API_KEY", displayName: "OpenAI", model: "gpt-5" },
  google: { keyVariable: "GEMINI_API_KEY", displayName: "Google", model: "gemini-3.8-flash" },
  /** A deployment's name is its owner's choice; Azure proposes the model's. */
  azure_openai: {
    keyVariable: "AZURE_OPENAI_API_KEY",
    displayName: "Azure OpenAI",
    model: "gpt-5",
  },
  /** An inference profile that every commercial region has. */
  bedrock: {
    keyVariable: "AWS_BEARER_TOKEN_BEDROCK",
    displayName: "Amazon Bedrock",
    model: "global.anthropic.claude-sonnet-5-5",
  },
} as const;
type Vendor = keyof typeof VENDORS;
const VENDOR_ORDER: readonly Vendor[] = ["anthropic", "openai", "google", "azure_openai", "bedrock"];

const DEMO = {
  model: "parley-demo",
  displayName: "Demo model (scripted, no intelligence)",
};

/** The last PARLEY_MODEL that was made the default, so that it is imposed once and not at every start. */
const APPLIED_MODEL = "environmentModel";

export type DefaultModel = {
  provider: ProviderRecord;
  modelConfig: ModelConfigRecord;
  /** PARLEY_MODEL is new, and was not made the default: an admin has switched its provider off, or deleted it. */
  isNamedModelRefused: boolean;
};

/**
 * Makes what is missing and returns the default. Afterwards exactly one model is the default: the one named by a
 * new PARLEY_MODEL; else the default so far, unless it is the demo or lost its key while another key is there.
 */
export async function ensureDefaultProviders(
  db: Database,
  environment: EnvironmentModels,
): Promise<DefaultModel> {
  return db.transaction(async (transaction) => {
    await lockModels(transaction);
    const present = VENDOR_ORDER.filter((vendor) => environment[vendor] !== undefined);
    const named = vendorOfModel(environment.model, present);
    const isNew =
      environment.model !== undefined && (await getSetting(transaction, APPLIED_MODEL)) !== environment.model;
    const configs = new Map<Vendor, string>();
    for (const vendor of present) {
      const provider = await ensureProvider(transaction, vendor, environment);
      const model = vendor === named ? environment.model : undefined;
      const wanted = provider && { providerId: provider.id, model, isNew: isNew && vendor === named };
      const config = wanted && (await ensureConfig(transaction, vendor, wanted));
      if (provider?.isEnabled && config) configs.set(vendor, config);
    }
    await takeOverPrices(transaction);
    await chooseDefault(transaction, { environment, present, named, isNew, configs });
    const isNamedModelRefused = isNew && named !== undefined && !configs.has(named);
    return { ...(await readDefault(transaction)), isNamedModelRefused };
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

/** The config of a further, newly named model, at the vendor that its name belongs to; null when none can be asked. */
export async function ensureModelConfig(
  transaction: Queryable,
  environment: EnvironmentModels,
  model: string,
): Promise<string | null> {
  await lockModels(transaction);
  const present = VENDOR_ORDER.filter((vendor) => environment[vendor] !== undefined);
  const vendor = vendorOfModel(model, present);
  const provider = vendor && (await ensureProvider(transaction, vendor, environment));
  if (!vendor || !provider) return null;
  return ensureConfig(transaction, vendor, { providerId: provider.id, model, isNew: true });
}

type Choice = {
  environment: EnvironmentModels;
  present: readonly Vendor[];
  named: Vendor | undefined;
  /** Whether the environment names another model than the one that it named last. */
  isNew: boolean;
  /** Of vendors that are switched on: the model that would be the default. */
  configs: ReadonlyMap<Vendor, string>;
};

async function chooseDefault(db: Queryable, choice: Choice): Promise<void> {
  const { environment, present, named, isNew, configs } = choice;
  const namedConfig = named && configs.get(named);
  if (isNew && namedConfig !== undefined) {
    await setSetting(db, { key: APPLIED_MODEL, value: environment.model ?? null, updatedBy: null });
    return takeOver(db, namedConfig);
  }
  const current = await findDefaultModelConfig(db);
  const provider = (await listProviders(db)).find((it) => it.id === current?.providerId);
  const [first] = present.flatMap((vendor) => configs.get(vendor) ?? []);
  const next = namedConfig ?? first;
  if (next === undefined) return provider ? undefined : takeOver(db, await ensureDemo(db));
  // An admin who chose the demo model although there are keys has meant it.
  const isStopgap = provider?.isDemo === true && current?.isEdited !== true;
  if (!provider || isStopgap || hasLostKey(provider, present)) return takeOver(db, next);
}

/** The key was the environment's, and is in it no more. */
function hasLostKey(provider: ProviderRecord, present: readonly Vendor[]): boolean {
  if (provider.sealedKey !== null || provider.keyPolicy !== "deployment") return false;
  const variable = keyVariableOf(provider);
  return VENDOR_ORDER.some((vendor) => VENDORS[vendor].keyVariable === variable && !present.includes(vendor));
}

const ENABLE: Statement = {
  name: "models.enable-config",
  text: "UPDATE model_configs SET is_enabled = true WHERE id = $1 AND NOT is_enabled",
};

/** What the environment newly names is switched on by that. */
async function takeOver(db: Queryable, configId: string): Promise<void> {
  await db.query(ENABLE, [configId]);
  await makeDefault(db, configId);
}

const PROVIDER = [
  ...(["id", "kind", "displayName", "baseUrl", "openaiApi", "apiKeyVariable", "isDemo"] as const),
] as const;
type NewProvider = Pick<ModelProviderEntity, (typeof PROVIDER)[number]>;

const INSERT_PROVIDER = (() => {
  const parameters = new Parameters<NewProvider>();
  const text = `INSERT INTO model_providers ${parameters.row(writtenColumns(ModelProviderEntity, PROVIDER))}`;
  return { parameters, statement: { name: "models.insert-provider", text } };
})();

async function insertProvider(db: Queryable, provider: NewProvider): Promise<void> {
  await db.query(INSERT_PROVIDER.statement, INSERT_PROVIDER.parameters.valuesOf(provider));
}

const UPDATE_ADDRESS: Statement = {
  name: "models.update-provider-address",
  text: `
    UPDATE model_providers SET base_url = $2, openai_api = $3
    WHERE id = $1 AND (base_url, openai_api) IS DISTINCT FROM ($2, $3)`,
};

/**
 * The provider whose key is in the environment has its address from there too, at each start, unless an admin has
 * chosen another one. Null when an admin has deleted it.
 */
async function ensureProvider(
  db: Queryable,
  vendor: Vendor,
  environment: EnvironmentModels,
): Promise<Pick<ProviderRecord, "id" | "isEnabled"> | null> {
  const { keyVariable, displayName } = VENDORS[vendor];
  const baseUrl = environment[vendor]?.baseUrl ?? null;
  const isOpenai = vendor === "openai" || vendor === "azure_openai";
  const openaiApi = (isOpenai ? environment[vendor]?.api : undefined) ?? "responses";
  const all = await listProviders(db, { includeDeleted: true });
  const existing = all.find((it) => it.apiKeyVariable === keyVariable);
  if (existing?.isDeleted) return null;
  if (existing) {
    const api = isOpenai && !existing.isFormatOwn ? openaiApi : existing.openaiApi;
    const address = existing.isAddressOwn ? existing.baseUrl : baseUrl;
    await db.query(UPDATE_ADDRESS, [existing.id, address, api]);
    return existing;
  }
  const id = randomUUID();
  const made = { id, kind: vendor, displayName: freeName(displayName, all), baseUrl, openaiApi };
  await insertProvider(db, { ...made, apiKeyVariable: keyVariable, isDemo: false });
  return { id, isEnabled: true };
}

/** An admin may have given the vendor's name to a provider of theirs. */
function freeName(wanted: string, all: readonly ProviderRecord[]): string {
  const taken = new Set(all.filter(({ isDeleted }) => !isDeleted).map(({ displayName }) => displayName));
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted} (${number})`;
  return name;
}

const CONFIG = ["id", "providerId", "model", "displayName", "contextLimit"] as const;
type NewConfig = Pick<ModelConfigEntity, (typeof CONFIG)[number]>;

const INSERT_CONFIG = (() => {
  const parameters = new Parameters<NewConfig>();
  const text = `INSERT INTO model_configs ${parameters.row(writtenColumns(ModelConfigEntity, CONFIG))}`;
  return { parameters, statement: { name: "models.insert-config", text } };
})();

async function insertConfig(db: Queryable, config: NewConfig, pricing: ModelPricing | null): Promise<string> {
  await db.query(INSERT_CONFIG.statement, INSERT_CONFIG.parameters.valuesOf(config));
  await setModelPricing(db, config.id, pricing);
  return config.id;
}

type Wanted = { providerId: string; model: string | undefined; isNew: boolean };

/**
 * The provider's config for the named model, else any that it has, else one for the vendor's usual model. A model that
 * an admin has deleted is made again only when the environment names it again. Null when all of them were deleted.
 */
async function ensureConfig(
  db: Queryable,
  vendor: Vendor,
  { providerId, model: named, isNew }: Wanted,
): Promise<string | null> {
  const all = (await listModelConfigs(db, { includeDisabled: true, includeDeleted: true })).filter(
    (it) => it.providerId === providerId,
  );
  const own = all.filter((it) => !it.isDeleted);
  const usual = own.find((it) => it.isEnabled)?.id ?? null;
  if (named === undefined && all.length > 0) return usual;
  const existing = own.find((it) => it.model === named);
  // One that was switched off is none until it is named again.
  if (existing) return existing.isEnabled || isNew ? existing.id : usual;
  if (named !== undefined && !isNew && all.some((it) => it.model === named)) return usual;
  const id = randomUUID();
  const model = named ?? VENDORS[vendor].model;
  // What a model can hold that the table does not know is asked for or observed later.
  const known = findKnownModel(model);
  const taken = own.some((it) => it.displayName === model);
  const displayName = taken ? `${model} (${id.slice(0, 8)})` : model;
  const made = { id, providerId, model, displayName, contextLimit: known?.contextLimit ?? null };
  return insertConfig(db, made, knownPricing(vendor, model));
}

/** The last edition of the table whose prices were filled in where there were none. */
const APPLIED_PRICES = "knownModelsEdition";

/** Once for each edition: who takes a price away afterwards meant it. */
async function takeOverPrices(db: Queryable): Promise<void> {
  if ((await getSetting(db, APPLIED_PRICES)) === KNOWN_MODELS_EDITION) return;
  const providers = new Map((await listProviders(db)).map((provider) => [provider.id, provider]));
  for (const config of await listModelConfigs(db, { includeDisabled: true })) {
    const kind = providers.get(config.providerId)?.kind;
    const pricing = kind && knownPricing(kind, config.model);
    if (config.pricing === null && !config.isEdited && pricing) await setModelPricing(db, config.id, pricing);
  }
  await setSetting(db, { key: APPLIED_PRICES, value: KNOWN_MODELS_EDITION, updatedBy: null });
}

async function ensureDemo(db: Queryable): Promise<string> {
  const existing = (await listProviders(db)).find((it) => it.isDemo);
  const configs = await listModelConfigs(db, { includeDisabled: true });
  const config = configs.find((it) => it.providerId === existing?.id);
  if (config) return config.id;
  const providerId = existing?.id ?? randomUUID();
  if (!existing) {
    const displayName = freeName("Demo", await listProviders(db));
    const made = { id: providerId, kind: "anthropic", displayName, openaiApi: "responses" } as const;
    await insertProvider(db, { ...made, baseUrl: null, apiKeyVariable: null, isDemo: true });
  }
  const known = findKnownModel(DEMO.model);
  const made = { id: randomUUID(), providerId, ...DEMO, contextLimit: known?.contextLimit ?? null };
  return insertConfig(db, made, known?.pricing ?? null);
}

async function readDefault(
  db: Queryable,
): Promise<{ provider: ProviderRecord; modelConfig: ModelConfigRecord }> {
  const modelConfig = await findDefaultModelConfig(db);
  const provider = (await listProviders(db)).find((it) => it.id === modelConfig?.providerId);
  if (!modelConfig || !provider) throw new Error("No default model was made.");
  return { provider, modelConfig };
}
