/** Choice of the API key for a model call. Pure. */
import type { ModelProviderKind } from "../common/failures.js";

/** `deployment`: the deployment's key; `user`: the chat owner's own; `user_then_deployment`: the owner's if there is one. */
export const KEY_POLICIES = ["deployment", "user", "user_then_deployment"] as const;
export type KeyPolicy = (typeof KEY_POLICIES)[number];

/** The available keys; null = none. */
type KnownKeys = { deployment: string | null; user: string | null };

/** `missing`: whose key is required. An empty key = the call goes without one. */
export type KeyChoice = { ok: true; key: string } | { ok: false; missing: "deployment" | "user" };

/** Whether users' own keys are used for this provider. */
export function takesPersonalKeys(policy: KeyPolicy): boolean {
  return policy !== "deployment";
}

/**
 * The key of one call. `mayGoWithout`: the endpoint accepts calls without a key, see `goesWithoutKey`. A provider that
 * requires users' own keys is never called without one, since that could use someone else's credentials.
 */
export function chooseKey(policy: KeyPolicy, mayGoWithout: boolean, keys: KnownKeys): KeyChoice {
  const own = takesPersonalKeys(policy) ? keys.user : null;
  if (own !== null) return { ok: true, key: own };
  if (policy === "user") return { ok: false, missing: "user" };
  if (keys.deployment !== null) return { ok: true, key: keys.deployment };
  if (mayGoWithout) return { ok: true, key: "" };
  return { ok: false, missing: policy === "deployment" ? "deployment" : "user" };
}

/** The fields of a provider that decide where the deployment's key comes from. */
export type KeySource = {
  kind: ModelProviderKind;
  baseUrl: string | null;
  apiKeyVariable: string | null;
  isAddressOwn: boolean;
  isDemo: boolean;
};

/** The environment variable with the key while none is stored: it is sent only to the environment's address. */
export function keyVariableOf({ apiKeyVariable, isAddressOwn }: KeySource): string | null {
  return isAddressOwn ? null : apiKeyVariable;
}

/** The environment variable with the address, where no admin has set another; named in errors about the address. */
export function addressVariableOf({ kind, ...source }: KeySource): string | null {
  return source.isDemo || keyVariableOf({ kind, ...source }) === null ? null : ADDRESS_VARIABLES[kind];
}

const ADDRESS_VARIABLES: Readonly<Record<ModelProviderKind, string | null>> = {
  anthropic: "ANTHROPIC_BASE_URL",
  openai: "OPENAI_BASE_URL",
  openai_compatible: null,
  google: "GOOGLE_GEMINI_BASE_URL",
  azure_openai: "AZURE_OPENAI_ENDPOINT",
  bedrock: "BEDROCK_BASE_URL",
};

/**
 * Whether calls may go without a key: to servers with a configured address, such as local ones, and to Bedrock, where the
 * machine's AWS credentials sign them. Azure always needs a key, and so does a provider whose key comes from the
 * environment.
 */
export function goesWithoutKey(source: KeySource): boolean {
  if (source.isDemo) return true;
  if (keyVariableOf(source) !== null || source.kind === "azure_openai") return false;
  return source.kind === "bedrock" || source.baseUrl !== null;
}
