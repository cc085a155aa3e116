/**
 * What an admin may make of a model provider: from how it was and what is asked to how it will be, or everything that is
 * wrong with it. Pure; secrets pass through and are kept nowhere.
 */
import type { ModelProviderKind } from "../common/failures.js";
import type { SecretChange, SecretUpdate } from "../mcp/auth-rules.js";
import { type Note, type Problem, readAddress, readPlainText } from "../mcp/field-rules.js";
import type { KeyPolicy } from "./model-keys.js";

export const OPENAI_APIS = ["responses", "chat"] as const;
/** Which of OpenAI's wire formats a provider speaks. */
export type OpenaiApi = (typeof OPENAI_APIS)[number];

/** What admins decide of a provider. */
export type ProviderSetup = {
  kind: ModelProviderKind;
  displayName: string;
  /** Null = the vendor's own. */
  baseUrl: string | null;
  /** Means nothing for other vendors than OpenAI's formats'. */
  openaiApi: OpenaiApi;
  keyPolicy: KeyPolicy;
  isEnabled: boolean;
  allowsPrivateAddresses: boolean;
};

/** Absent keeps what is there, or leaves a new provider's default; null clears, which only the address bears. */
export type ProviderChange = {
  displayName?: string | null | undefined;
  baseUrl?: string | null | undefined;
  openaiApi?: OpenaiApi | null | undefined;
  apiKey?: SecretChange | null | undefined;
  keyPolicy?: KeyPolicy | null | undefined;
  isEnabled?: boolean | null | undefined;
  isPrivateNetworkAllowed?: boolean | null | undefined;
};

/** The kind is given once and for all: models' options are made for it. */
export type NewProvider = ProviderChange & { kind: ModelProviderKind; displayName: string };

/** `hasMoved`: it is another host's address than before; no key may follow it there. */
export type ProviderPlan =
  | { ok: true; setup: ProviderSetup; key: SecretUpdate; hasMoved: boolean }
  | { ok: false; problems: Problem[] };

const NEVER_CLEARED = [
  "displayName",
  "openaiApi",
  "keyPolicy",
  "isEnabled",
  "isPrivateNetworkAllowed",
] as const satisfies readonly (keyof ProviderChange)[];

const MAX_NAME_CHARACTERS = 100;
/** Longer than any vendor's; those that are signed documents reach two or three thousand. */
export const MAX_KEY_CHARACTERS = 8_192;
/** What travels in a header as it is. */
const KEY = /^[\x21-\x7e]+$/;
const MOVED_KEY =
  "The address is another host's now: give the key anew, since it was given for the former one.";

export function planNewProvider(wanted: NewProvider): ProviderPlan {
  const { kind } = wanted;
  const blank: ProviderSetup = {
    kind,
    displayName: "",
    baseUrl: null,
    openaiApi: kind === "openai_compatible" ? "chat" : "responses",
    keyPolicy: "deployment",
    isEnabled: true,
    allowsPrivateAddresses: false,
  };
  return plan({ setup: blank, hasKey: false, isNew: true }, wanted);
}

/** `hasKey`: one is stored. */
export function planProviderChange(
  before: { setup: ProviderSetup; hasKey: boolean },
  change: ProviderChange,
): ProviderPlan {
  return plan({ ...before, isNew: false }, change);
}

function plan(
  { setup: old, hasKey, isNew }: { setup: ProviderSetup; hasKey: boolean; isNew: boolean },
  change: ProviderChange,
): ProviderPlan {
  const problems: Problem[] = [];
  const note: Note = (message, ...path) => problems.push({ message, path });
  for (const field of NEVER_CLEARED) {
    if (change[field] === null) note("This cannot be cleared. Leave it out to keep it.", field);
  }
  const { displayName, openaiApi } = change;
  const name = { min: 1, max: MAX_NAME_CHARACTERS };
  const setup: ProviderSetup = {
    kind: old.kind,
    displayName:
      displayName == null
        ? old.displayName
        : readPlainText(displayName, name, (it) => note(it, "displayName")),
    baseUrl: readBaseUrl(old, change.baseUrl, note),
    openaiApi: openaiApi ?? old.openaiApi,
    keyPolicy: change.keyPolicy ?? old.keyPolicy,
    isEnabled: change.isEnabled ?? old.isEnabled,
    allowsPrivateAddresses: change.isPrivateNetworkAllowed ?? old.allowsPrivateAddresses,
  };
  if (openaiApi != null && !speaksOpenai(old.kind)) {
    note("Only providers that speak OpenAI's formats have a choice of them.", "openaiApi");
  }
  const key = readKey(change.apiKey, (message, ...path) => note(message, "apiKey", ...path));
  const hasMoved = !isNew && originOf(old.baseUrl) !== originOf(setup.baseUrl);
  if (hasMoved && hasKey && key === "keep") note(MOVED_KEY, "apiKey");
  return problems.length > 0 ? { ok: false, problems } : { ok: true, setup, key, hasMoved };
}

export function speaksOpenai(kind: ModelProviderKind): boolean {
  return kind === "openai" || kind === "openai_compatible" || kind === "azure_openai";
}

function readBaseUrl(
  { kind, baseUrl: old }: ProviderSetup,
  given: string | null | undefined,
  note: Note,
): string | null {
  const baseUrl =
    given === undefined ? old : given === null ? null : readAddress(given, (it) => note(it, "baseUrl"));
  const needsOne = kind === "openai_compatible" || kind === "azure_openai";
  if (baseUrl === null && needsOne) {
    note("This kind of provider has no address of its own: give the one to ask.", "baseUrl");
  }
  return baseUrl;
}

/** A key as it is pasted. Null clears, as it does everywhere. */
export function readKey(given: SecretChange | null | undefined, note: Note): SecretUpdate {
  if (given === undefined) return "keep";
  if (given === null) return "clear";
  if (given.set == null) {
    if (given.clear !== true) note("To remove it, say true; to keep it, leave it out.", "clear");
    return "clear";
  }
  const key = given.set.trim();
  if (key === "") note("The key is blank.", "set");
  else if (key.length > MAX_KEY_CHARACTERS || !KEY.test(key)) {
    const length = MAX_KEY_CHARACTERS.toLocaleString("en");
    note(`A key has at most ${length} characters, all of them visible ASCII, without spaces.`, "set");
  }
  return { set: key };
}

/** The vendor's own address counts as a host of its own. */
function originOf(address: string | null): string {
  if (address === null) return "";
  return URL.canParse(address) ? new URL(address).origin : address;
}
