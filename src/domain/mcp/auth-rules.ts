/** Validation of an MCP server's authorization settings, and the fate of the secrets of the previous settings. Pure. */
import type { McpServerSettings } from "./types.js";
import {
  headerNameProblem,
  headerValueProblem,
  keepOrClear,
  type Note,
  readAddress,
  readScopes,
} from "./field-rules.js";

/** Absent keeps the secret. `clear` counts only when true. */
export type SecretChange = { set?: string | null | undefined; clear?: boolean | null | undefined };

/** Within one kind, absent keeps and null clears; changing the kind resets everything. */
export type McpAuthChange =
  | { kind: "none" | "user_identity"; isConfirmed: boolean }
  | {
      kind: "oauth2";
      clientId?: string | null;
      clientSecret?: SecretChange;
      authorizeUrl?: string | null;
      tokenUrl?: string | null;
      scopes?: string[];
    }
  | { kind: "api_key"; header?: string; value?: SecretChange }
  | { kind: "custom_headers"; headers: { name: string; value?: SecretChange }[] };

/** The secrets already stored, sealed; `headerNames` as they were entered. */
export type StoredSecrets = {
  hasOauthClientSecret: boolean;
  hasApiKey: boolean;
  headerNames: readonly string[];
};

export type SecretUpdate = "keep" | "clear" | { set: string };
/** The complete new list of headers; a null value keeps that of the stored header with this name. */
export type HeadersUpdate = "keep" | "clear" | { headers: { name: string; value: string | null }[] };
export type SecretUpdates = {
  oauthClientSecret: SecretUpdate;
  apiKey: SecretUpdate;
  customHeaders: HeadersUpdate;
};

type AuthSettings = Pick<
  McpServerSettings,
  "authKind" | "oauthClientId" | "oauthAuthorizeUrl" | "oauthTokenUrl" | "oauthScopes" | "apiKeyHeader"
>;
type Planned = { settings: AuthSettings; secrets: SecretUpdates };

/** `movesTo`: the server's new address; null = unchanged. */
type AuthBefore = { settings: McpServerSettings; secrets: StoredSecrets; movesTo: string | null };

const MAX_CUSTOM_HEADERS = 20;
const MAX_CLIENT_ID_CHARACTERS = 512;
/** RFC 6749, appendix A: characters of a client's id and secret, without the space. */
const CLIENT_WORD = /^[\x21-\x7e]+$/;
const MAX_CLIENT_SECRET_CHARACTERS = 4_096;

const NOTHING: AuthSettings = {
  authKind: "none",
  oauthClientId: null,
  oauthAuthorizeUrl: null,
  oauthTokenUrl: null,
  oauthScopes: [],
  apiKeyHeader: null,
};
const CLEAR_ALL: SecretUpdates = { oauthClientSecret: "clear", apiKey: "clear", customHeaders: "clear" };
const KEEP_ALL: SecretUpdates = { oauthClientSecret: "keep", apiKey: "keep", customHeaders: "keep" };

/** Plans a change of authorization. Secrets of another kind are cleared; secrets given for another host must be given again. */
export function changeAuth(before: AuthBefore, change: McpAuthChange | undefined, note: Note): Planned {
  const noteAuth: Note = (message, ...path) => note(message, "auth", ...path);
  const planned = change === undefined ? unchanged(before) : planKind(before, change, noteAuth);
  noteMovedSecrets(before, planned, noteAuth);
  return planned;
}

function unchanged({ settings }: AuthBefore): Planned {
  const { authKind, oauthClientId, oauthAuthorizeUrl, oauthTokenUrl, oauthScopes, apiKeyHeader } = settings;
  const settingsNow = {
    authKind,
    oauthClientId,
    oauthAuthorizeUrl,
    oauthTokenUrl,
    oauthScopes,
    apiKeyHeader,
  };
  return { settings: settingsNow, secrets: KEEP_ALL };
}

function planKind(before: AuthBefore, change: McpAuthChange, note: Note): Planned {
  const isSameKind = before.settings.authKind === change.kind;
  switch (change.kind) {
    case "none":
    case "user_identity":
      if (!change.isConfirmed)
        note("Set this to true to choose it.", change.kind === "none" ? "none" : "userIdentity");
      return { settings: { ...NOTHING, authKind: change.kind }, secrets: CLEAR_ALL };
    case "oauth2":
      return planOauth(isSameKind ? before : null, change, (message, ...path) =>
        note(message, "oauth2", ...path),
      );
    case "api_key":
      return planApiKey(isSameKind ? before : null, change, (message, ...path) =>
        note(message, "apiKey", ...path),
      );
    case "custom_headers":
      return planHeaders(isSameKind ? before : null, change.headers, (message, ...path) =>
        note(message, "headers", ...path),
      );
  }
}

/** OAuth with a client that an admin configured, or without one: then the server's metadata is used and Parley registers itself. */
function planOauth(
  before: AuthBefore | null,
  change: Extract<McpAuthChange, { kind: "oauth2" }>,
  note: Note,
): Planned {
  const old = before?.settings ?? NOTHING;
  const settings = {
    ...NOTHING,
    authKind: "oauth2" as const,
    oauthClientId: readClientId(change.clientId, old.oauthClientId, note),
    oauthAuthorizeUrl: readEndpoint(change.authorizeUrl, old.oauthAuthorizeUrl, (it) =>
      note(it, "authorizeUrl"),
    ),
    oauthTokenUrl: readEndpoint(change.tokenUrl, old.oauthTokenUrl, (it) => note(it, "tokenUrl")),
    oauthScopes: change.scopes
      ? readScopes(change.scopes, (message, ...path) => note(message, "scopes", ...path))
      : old.oauthScopes,
  };
  noteHalfClient(settings, note);
  const noteSecret: Note = (message, ...path) => note(message, "clientSecret", ...path);
  const update = readSecret(change.clientSecret, noteSecret);
  if (typeof update === "object") {
    if (update.set.length > MAX_CLIENT_SECRET_CHARACTERS || !/^[\x20-\x7e]+$/.test(update.set)) {
      noteSecret(`A client secret must be 1 to ${MAX_CLIENT_SECRET_CHARACTERS} ASCII characters.`, "set");
    }
    if (settings.oauthClientId === null) noteSecret("A client secret needs a client id: enter both.");
  }
  const keepsSecret = update === "keep" && before !== null && settings.oauthClientId === old.oauthClientId;
  const oauthClientSecret = update === "keep" && !keepsSecret ? "clear" : update;
  return { settings, secrets: { ...CLEAR_ALL, oauthClientSecret } };
}

function readClientId(input: string | null | undefined, old: string | null, note: Note): string | null {
  if (input == null) return keepOrClear(input, old);
  const trimmed = input.trim();
  if (trimmed.length > MAX_CLIENT_ID_CHARACTERS || !CLIENT_WORD.test(trimmed)) {
    note(`A client id must be 1 to ${MAX_CLIENT_ID_CHARACTERS} visible ASCII characters.`, "clientId");
  }
  return trimmed;
}

function readEndpoint(
  input: string | null | undefined,
  old: string | null,
  note: (message: string) => void,
): string | null {
  if (input == null) return keepOrClear(input, old);
  return readAddress(input, note);
}

function noteHalfClient(settings: AuthSettings, note: Note): void {
  const fields = [
    ["clientId", settings.oauthClientId],
    ["authorizeUrl", settings.oauthAuthorizeUrl],
    ["tokenUrl", settings.oauthTokenUrl],
  ] as const;
  const missing = fields.filter(([, value]) => value === null);
  if (missing.length === fields.length) return;
  for (const [field] of missing) {
    note(
      "Enter a client id with both of its addresses, or none of the three to use the server's own metadata.",
      field,
    );
  }
}

function planApiKey(
  before: AuthBefore | null,
  change: Extract<McpAuthChange, { kind: "api_key" }>,
  note: Note,
): Planned {
  const header = change.header?.trim() ?? before?.settings.apiKeyHeader ?? "";
  const problem =
    header === ""
      ? "An API key needs a header to be sent in, such as Authorization."
      : headerNameProblem(header);
  if (problem !== null) note(problem, "header");
  const apiKey = readSecret(change.value, (message, ...path) => note(message, "value", ...path));
  if (typeof apiKey === "object") {
    const valueProblem = headerValueProblem(apiKey.set);
    if (valueProblem !== null) note(valueProblem, "value", "set");
  } else if (apiKey === "clear" || !before?.secrets.hasApiKey) {
    note("An API key is required. Choose another kind of authorization to go without.", "value");
  }
  const settings = { ...NOTHING, authKind: "api_key" as const, apiKeyHeader: header };
  return { settings, secrets: { ...CLEAR_ALL, apiKey } };
}

function planHeaders(
  before: AuthBefore | null,
  inputs: { name: string; value?: SecretChange }[],
  note: Note,
): Planned {
  if (inputs.length === 0) note("Enter at least one header, or choose another kind of authorization.");
  if (inputs.length > MAX_CUSTOM_HEADERS) note(`A server may have at most ${MAX_CUSTOM_HEADERS} headers.`);
  const stored = new Set((before?.secrets.headerNames ?? []).map((name) => name.toLowerCase()));
  const seen = new Set<string>();
  const headers = inputs.slice(0, MAX_CUSTOM_HEADERS).map((input, index) => {
    const noteHere: Note = (message, ...path) => note(message, String(index), ...path);
    const name = input.name.trim();
    const lower = name.toLowerCase();
    const problem = headerNameProblem(name) ?? (seen.has(lower) ? "The header occurs twice." : null);
    if (problem !== null) noteHere(problem, "name");
    seen.add(lower);
    return { name, value: readHeaderValue(input.value, stored.has(lower), noteHere) };
  });
  const settings = { ...NOTHING, authKind: "custom_headers" as const };
  return { settings, secrets: { ...CLEAR_ALL, customHeaders: { headers } } };
}

/** Null = the stored value. */
function readHeaderValue(input: SecretChange | undefined, isStored: boolean, note: Note): string | null {
  const update = readSecret(input, (message, ...path) => note(message, "value", ...path));
  if (update === "clear") note("A header needs a value. Leave it out of the list to remove it.", "value");
  if (update === "keep" && !isStored) note("No header of this name is stored: enter its value.", "value");
  if (typeof update !== "object") return null;
  const problem = headerValueProblem(update.set);
  if (problem !== null) note(problem, "value", "set");
  return update.set;
}

/** Trims the secret, since white space around a pasted one is not part of it. */
function readSecret(input: SecretChange | undefined, note: Note): SecretUpdate {
  if (input === undefined) return "keep";
  if (input.set != null) return { set: input.set.trim() };
  if (input.clear !== true) note("Set this to true to remove the secret; leave it out to keep it.", "clear");
  return "clear";
}

/**
 * Requires secrets to be entered again when the server's or the client's token address moves to another host: otherwise
 * an admin could read a write-only secret by pointing it elsewhere.
 */
function noteMovedSecrets(
  { settings: old, secrets, movesTo }: AuthBefore,
  planned: Planned,
  note: Note,
): void {
  const message =
    "The address is on another host now. Enter this again, since it was meant for the previous one.";
  const isMoved = movesTo !== null && old.url !== "" && originOf(movesTo) !== originOf(old.url);
  if (isMoved && planned.settings.authKind === "api_key" && planned.secrets.apiKey === "keep") {
    note(message, "apiKey", "value");
  }
  if (isMoved && planned.settings.authKind === "custom_headers") noteMovedHeaders(planned, message, note);
  const { oauthTokenUrl } = planned.settings;
  const hasMovedClient = oauthTokenUrl !== null && originOf(oauthTokenUrl) !== originOf(old.oauthTokenUrl);
  if (hasMovedClient && secrets.hasOauthClientSecret && planned.secrets.oauthClientSecret === "keep") {
    note(message, "oauth2", "clientSecret");
  }
}

function noteMovedHeaders({ secrets: { customHeaders } }: Planned, message: string, note: Note): void {
  if (customHeaders === "keep") note(message, "headers");
  if (typeof customHeaders !== "object") return;
  for (const [index, { value }] of customHeaders.headers.entries()) {
    if (value === null) note(message, "headers", String(index), "value");
  }
}

/** Null for an invalid address, which is reported elsewhere. */
function originOf(address: string | null): string | null {
  return address !== null && URL.canParse(address) ? new URL(address).origin : null;
}
