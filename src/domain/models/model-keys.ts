/** Whose key pays for a model call. Pure. */
import type { ModelProviderKind } from "../common/failures.js";

/** `deployment`: the deployment's; `user`: the chat owner's own; `user_then_deployment`: theirs if they gave one. */
export const KEY_POLICIES = ["deployment", "user", "user_then_deployment"] as const;
export type KeyPolicy = (typeof KEY_POLICIES)[number];

/** What there is to call with; null = no such key. */
export type KnownKeys = { deployment: string | null; user: string | null };

/** `missing`: whose key would have to be given. An empty key = the call goes without one. */
export type KeyChoice = { ok: true; key: string } | { ok: false; missing: "deployment" | "user" };

/** Whether a person's own key can count for this provider. */
export function takesPersonalKeys(policy: KeyPolicy): boolean {
  return policy !== "deployment";
}

/**
 * The key of one call. `mayGoWithout`: the endpoint may be called without any, see `goesWithoutKey`; a provider that
 * wants people's own keys is never called without one for them, as that could be somebody else's credentials.
 */
export function chooseKey(policy: KeyPolicy, mayGoWithout: boolean, keys: KnownKeys): KeyChoice {
  const own = takesPersonalKeys(policy) ? keys.user : null;
  if (own !== null) return { ok: true, key: own };
  if (policy === "user") return { ok: false, missing: "user" };
  if (keys.deployment !== null) return { ok: true, key: keys.deployment };
  if (mayGoWithout) return { ok: true, key: "" };
  return { ok: false, missing: policy === "deployment" ? "deployment" : "user" };
}

/** What of a provider decides where its deployment's key is. */
export type KeySource = {
  kind: ModelProviderKind;
  baseUrl: string | null;
  apiKeyVariable: string | null;
  isAddressOwn: boolean;
  isDemo: boolean;
};

/** The variable whose value is the key as long as none is stored: it goes only where the environment's address is. */
export function keyVariableOf({ apiKeyVariable, isAddressOwn }: KeySource): string | null {
  return isAddressOwn ? null : apiKeyVariable;
}

/** The variable that gives the address, where no admin has chosen another: who must correct it, corrects that. */
export function addressVariableOf({ kind, ...place }: KeySource): string | null {
  return place.isDemo || keyVariableOf({ kind, ...place }) === null ? null : ADDRESS_VARIABLES[kind];
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
 * Whether calls may be made without any key: those to servers with an address of their own, as local ones are, and
 * those to Bedrock, which the machine's own AWS credentials sign. Azure always wants one, and so does a provider whose
 * key the environment is to give.
 */
export function goesWithoutKey(place: KeySource): boolean {
  if (place.isDemo) return true;
  if (keyVariableOf(place) !== null || place.kind === "azure_openai") return false;
  return place.kind === "bedrock" || place.baseUrl !== null;
}
