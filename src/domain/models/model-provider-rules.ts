/**
 * Validation of new and changed model providers: from the current setup and a change to the new setup, or all problems.
 * Pure; secrets pass through and are not retained.
 */
import type { ModelProviderKind } from "../common/failures.js";
import type { SecretChange, SecretUpdate } from "../mcp/auth-rules.js";
import { type Note, type Problem, readAddress, readPlainText } from "../mcp/field-rules.js";
import type { KeyPolicy } from "./model-keys.js";

const OPENAI_APIS = ["responses", "chat"] as const;
/** Which of OpenAI's wire formats a provider speaks. */
export type OpenaiApi = (typeof OPENAI_APIS)[number];

/** The settings of a provider that admins control. */
export type ProviderSetup = {
  kind: ModelProviderKind;
  displayName: string;
  /** Null = the vendor's own. */
  baseUrl: string | null;
  /** Only meaningful for providers that speak OpenAI's formats. */
  openaiApi: OpenaiApi;
  keyPolicy: KeyPolicy;
  isEnabled: boolean;
  allowsPrivateAddresses: boolean;
};

/** Absent keeps the value, or a new provider's default; null clears it, which only the address and the key allow. */
export type ProviderChange = {
  displayName?: string | null | undefined;
  baseUrl?: string | null | undefined;
  openaiApi?: OpenaiApi | null | undefined;
  apiKey?: SecretChange | null | undefined;
  keyPolicy?: KeyPolicy | null | undefined;
  isEnabled?: boolean | null | undefined;
  isPrivateNetworkAllowed?: boolean | null | undefined;
};

/** The kind never changes: model options depend on it. */
export type NewProvider = ProviderChange & { kind: ModelProviderKind; displayName: string };

/** `hasMoved`: the address is on another host than before; no stored key may be sent there. */
type ProviderPlan =
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
/** Longer than any vendor's keys; signed tokens reach two or three thousand. */
const MAX_KEY_CHARACTERS = 8_192;
/** Characters that a header carries unchanged. */
const KEY = /^[\x21-\x7e]+$/;
const MOVED_KEY =
  "The address is on another host now. Enter the key again, since it was meant for the previous one.";

export function planNewProvider(input: NewProvider): ProviderPlan {
  const { kind } = input;
  const blank: ProviderSetup = {
    kind,
    displayName: "",
    baseUrl: null,
    openaiApi: kind === "openai_compatible" ? "chat" : "responses",
    keyPolicy: "deployment",
    isEnabled: true,
    allowsPrivateAddresses: false,
  };
  return plan({ setup: blank, hasKey: false, isNew: true }, input);
}

/** Plans a change of a provider. `hasKey`: whether a key is stored. */
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
    note("Only providers that speak OpenAI's formats can choose between them.", "openaiApi");
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
  input: string | null | undefined,
  note: Note,
): string | null {
  const baseUrl =
    input === undefined ? old : input === null ? null : readAddress(input, (it) => note(it, "baseUrl"));
  const needsOne = kind === "openai_compatible" || kind === "azure_openai";
  if (baseUrl === null && needsOne) {
    note("This kind of provider has no default address: enter one.", "baseUrl");
  }
  return baseUrl;
}

/** The update for a pasted key. Null clears, as everywhere. */
export function readKey(input: SecretChange | null | undefined, note: Note): SecretUpdate {
  if (input === undefined) return "keep";
  if (input === null) return "clear";
  if (input.set == null) {
    if (input.clear !== true) note("Set this to true to remove the key; leave it out to keep it.", "clear");
    return "clear";
  }
  const key = input.set.trim();
  if (key === "") note("The key must not be blank.", "set");
  else if (key.length > MAX_KEY_CHARACTERS || !KEY.test(key)) {
    const length = MAX_KEY_CHARACTERS.toLocaleString("en");
    note(`A key may have at most ${length} characters, all visible ASCII, without spaces.`, "set");
  }
  return { set: key };
}

/** The origin of an address; the vendor's default address counts as its own origin. */
function originOf(address: string | null): string {
  if (address === null) return "";
  return URL.canParse(address) ? new URL(address).origin : address;
}
