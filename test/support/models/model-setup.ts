// Set-up of providers and models by an admin, and turns with them.
import { randomUUID } from "node:crypto";
import type { ApiClient } from "../clients/api-client.js";

export type ShownProvider = { id: string; displayName: string; [field: string]: unknown };
export type ShownModel = { id: string; displayName: string; [field: string]: unknown };
export type UserErrors = { code: string; message: string; path: string[] | null }[];

export const PROVIDER_FIELDS = `__typename id kind displayName isEnabled hasApiKey hasViewerKey keyPolicy isDeleted
  baseUrl admin { openaiApi isPrivateNetworkAllowed hasEnvironmentKey isBaseUrlFromEnvironment } models { id }`;
export const MODEL_FIELDS = `__typename id model displayName isEnabled isDefault isDeleted contextLimit maxOutputTokens
  compactionThresholdPercent capabilities providerOptions pricing { input output cacheRead cacheWrite }
  provider { id }`;

/** Names that no other test uses. */
export const newName = () => `N ${randomUUID().slice(0, 8)}`;

/** The mutations of one admin. */
export function setupBy(admin: ApiClient) {
  const createProvider = (overrides: object = {}, api = admin) =>
    api.change<{ provider: ShownProvider | null; userErrors: UserErrors }>(
      "createModelProvider",
      { kind: "ANTHROPIC", displayName: newName(), ...overrides },
      `provider { ${PROVIDER_FIELDS} }`,
    );
  const updateProvider = (providerId: string, change: object, api = admin) =>
    api.change<{ provider: ShownProvider | null; userErrors: UserErrors }>(
      "updateModelProvider",
      { providerId, ...change },
      `provider { ${PROVIDER_FIELDS} }`,
    );
  const deleteProvider = (providerId: string) =>
    admin.change<{ deletedId: string | null; userErrors: UserErrors }>(
      "deleteModelProvider",
      { providerId },
      "deletedId",
    );
  const createModel = (providerId: string, overrides: object = {}) =>
    admin.change<{ modelConfig: ShownModel | null; userErrors: UserErrors }>(
      "createModelConfig",
      { providerId, model: "claude-next", displayName: newName(), ...overrides },
      `modelConfig { ${MODEL_FIELDS} }`,
    );
  const updateModel = (modelConfigId: string, change: object) =>
    admin.change<{ modelConfig: ShownModel | null; userErrors: UserErrors }>(
      "updateModelConfig",
      { modelConfigId, ...change },
      `modelConfig { ${MODEL_FIELDS} }`,
    );
  const deleteModel = (modelConfigId: string) =>
    admin.change<{ deletedId: string | null; userErrors: UserErrors }>(
      "deleteModelConfig",
      { modelConfigId },
      "deletedId",
    );

  /** Creates a provider at an address on this machine; returns its id. */
  async function provider(baseUrl: string, overrides: object = {}): Promise<string> {
    const made = await createProvider({ baseUrl, isPrivateNetworkAllowed: true, ...overrides });
    return demand(made.provider, made.userErrors).id;
  }

  async function model(providerId: string, overrides: object = {}): Promise<string> {
    const made = await createModel(providerId, overrides);
    return demand(made.modelConfig, made.userErrors).id;
  }

  return {
    ...{ createProvider, updateProvider, deleteProvider, createModel, updateModel, deleteModel },
    ...{ provider, model },
  };
}

function demand<T>(made: T | null, userErrors: UserErrors): T {
  if (made === null) throw new Error(JSON.stringify(userErrors));
  return made;
}

/** `CODE a.b` of each refusal. */
export const refusalsOf = (userErrors: UserErrors) =>
  userErrors.map(({ code, path }) => `${code} ${path?.join(".") ?? ""}`.trim());

/** A provider or model by its id; null when there is none. */
export async function findNode(api: ApiClient, id: string): Promise<ShownProvider | ShownModel | null> {
  const isProvider = id.startsWith("prov_");
  const fragment = isProvider
    ? `... on ModelProvider { ${PROVIDER_FIELDS} }`
    : `... on ModelConfig { ${MODEL_FIELDS} }`;
  const query = `query ($id: ID!) { node(id: $id) { ${fragment} } }`;
  return (await api.get<{ node: ShownProvider | ShownModel | null }>(query, { id })).node;
}

export async function listProviders(api: ApiClient): Promise<ShownProvider[]> {
  type Read = { modelProviders: ShownProvider[] };
  return (await api.get<Read>(`{ modelProviders { ${PROVIDER_FIELDS} } }`)).modelProviders;
}

export async function listModels(api: ApiClient, includeDisabled = true): Promise<ShownModel[]> {
  const query = `query ($all: Boolean) { modelConfigs(includeDisabled: $all) { ${MODEL_FIELDS} } }`;
  return (await api.get<{ modelConfigs: ShownModel[] }>(query, { all: includeDisabled })).modelConfigs;
}

export type Turn = { chatId: string; status: string; answer: string; failure: Failure | null };
export type Failure = { kind: string; message: string };

/** Follows a chat until it is idle. */
export async function restOf(api: ApiClient, chatId: string): Promise<Turn> {
  const follower = api.follow(chatId);
  await follower.untilStatus("WAITING", "ERROR");
  await follower.close();
  const query = "query ($id: ID!) { chat(id: $id) { status lastError { kind message } } }";
  type Read = { chat: { status: string; lastError: Failure | null } };
  const { chat } = await api.get<Read>(query, { id: chatId });
  const answer = follower.transcript.answers.at(-1) ?? "";
  return { chatId, status: chat.status, answer, failure: chat.lastError };
}

/** Creates a chat and runs one turn. */
export async function talk(api: ApiClient, modelConfigId?: string): Promise<Turn> {
  const more = modelConfigId === undefined ? {} : { modelConfigId };
  const chatId = await api.createChat("[[demo: deltas=2]]", { workspaceId: null, ...more });
  return restOf(api, chatId);
}

/** Runs one more turn in a chat. */
export async function goOn(api: ApiClient, chatId: string, more: object = {}): Promise<Turn> {
  const follower = await api.followFromNow(chatId);
  const before = follower.transcript.log.length;
  await api.send(chatId, "[[demo: deltas=2]]", more);
  await follower.until(({ log }) => log.slice(before).some((it) => /^status (WAITING|ERROR)$/.test(it)));
  await follower.close();
  return restOf(api, chatId);
}
