/** How a tool server's authorisation may be set up, and what becomes of the secrets of how it was before. Pure. */
import type { McpServerSettings } from "./types.js";
import {
  headerNameProblem,
  headerValueProblem,
  keepOrClear,
  type Note,
  readAddress,
  readScopes,
} from "./field-rules.js";

/** Absent keeps. A null `clear` or one that is false is neither. */
export type SecretChange = { set?: string | null | undefined; clear?: boolean | null | undefined };

/** Within one kind absent keeps and null clears; whoever changes the kind begins anew. */
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

/** What is kept sealed already; `headerNames` as they were given. */
export type StoredSecrets = {
  hasOauthClientSecret: boolean;
  hasApiKey: boolean;
  headerNames: readonly string[];
};

export type SecretUpdate = "keep" | "clear" | { set: string };
/** All headers there will be; a null value is that of the stored header of this name. */
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

/** `movesTo`: the server's new address; null = it stays where it is. */
export type AuthBefore = { settings: McpServerSettings; secrets: StoredSecrets; movesTo: string | null };

const MAX_CUSTOM_HEADERS = 20;
const MAX_CLIENT_ID_CHARACTERS = 512;
/** RFC 6749, appendix A: what a client's id and secret are made of, less the blank. */
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
const CLEARED: SecretUpdates = { oauthClientSecret: "clear", apiKey: "clear", customHeaders: "clear" };
const KEPT: SecretUpdates = { oauthClientSecret: "keep", apiKey: "keep", customHeaders: "keep" };

/** Only what is kept sealed can be kept: another kind's secrets go, and so does what was kept for another host. */
export function changeAuth(before: AuthBefore, change: McpAuthChange | undefined, note: Note): Planned {
  const noteAuth: Note = (message, ...path) => note(message, "auth", ...path);
  const planned = change === undefined ? unchanged(before) : ofKind(before, change, noteAuth);
  noteMovedSecrets(before, planned, noteAuth);
  return planned;
}

function unchanged({ settings }: AuthBefore): Planned {
  const { authKind, oauthClientId, oauthAuthorizeUrl, oauthTokenUrl, oauthScopes, apiKeyHeader } = settings;
  const kept = { authKind, oauthClientId, oauthAuthorizeUrl, oauthTokenUrl, oauthScopes, apiKeyHeader };
  return { settings: kept, secrets: KEPT };
}

function ofKind(before: AuthBefore, change: McpAuthChange, note: Note): Planned {
  const isSameKind = before.settings.authKind === change.kind;
  switch (change.kind) {
    case "none":
    case "user_identity":
      if (!change.isConfirmed)
        note("To choose this, say true.", change.kind === "none" ? "none" : "userIdentity");
      return { settings: { ...NOTHING, authKind: change.kind }, secrets: CLEARED };
    case "oauth2":
      return ofOauth(isSameKind ? before : null, change, (message, ...path) =>
        note(message, "oauth2", ...path),
      );
    case "api_key":
      return ofApiKey(isSameKind ? before : null, change, (message, ...path) =>
        note(message, "apiKey", ...path),
      );
    case "custom_headers":
      return ofHeaders(isSameKind ? before : null, change.headers, (message, ...path) =>
        note(message, "headers", ...path),
      );
  }
}

/** A client that an admin gave, or none: then the server's own metadata tells all, and Parley registers itself. */
function ofOauth(
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
  const wanted = readSecret(change.clientSecret, noteSecret);
  if (typeof wanted === "object") {
    if (wanted.set.length > MAX_CLIENT_SECRET_CHARACTERS || !/^[\x20-\x7e]+$/.test(wanted.set)) {
      noteSecret(`A client's secret is 1 to ${MAX_CLIENT_SECRET_CHARACTERS} ASCII characters.`, "set");
    }
    if (settings.oauthClientId === null) noteSecret("A secret belongs to a client: give its id too.");
  }
  const isKept = wanted === "keep" && before !== null && settings.oauthClientId === old.oauthClientId;
  const oauthClientSecret = wanted === "keep" && !isKept ? "clear" : wanted;
  return { settings, secrets: { ...CLEARED, oauthClientSecret } };
}

function readClientId(given: string | null | undefined, old: string | null, note: Note): string | null {
  if (given == null) return keepOrClear(given, old);
  const trimmed = given.trim();
  if (trimmed.length > MAX_CLIENT_ID_CHARACTERS || !CLIENT_WORD.test(trimmed)) {
    note(`A client's id is 1 to ${MAX_CLIENT_ID_CHARACTERS} visible ASCII characters.`, "clientId");
  }
  return trimmed;
}

function readEndpoint(
  given: string | null | undefined,
  old: string | null,
  note: (message: string) => void,
): string | null {
  if (given == null) return keepOrClear(given, old);
  return readAddress(given, note);
}

function noteHalfClient(settings: AuthSettings, note: Note): void {
  const parts = [
    ["clientId", settings.oauthClientId],
    ["authorizeUrl", settings.oauthAuthorizeUrl],
    ["tokenUrl", settings.oauthTokenUrl],
  ] as const;
  const missing = parts.filter(([, value]) => value === null);
  if (missing.length === parts.length) return;
  for (const [field] of missing) {
    note(
      "Give a client's id with both of its addresses, or none of the three: then they are asked of the server.",
      field,
    );
  }
}

function ofApiKey(
  before: AuthBefore | null,
  change: Extract<McpAuthChange, { kind: "api_key" }>,
  note: Note,
): Planned {
  const header = change.header?.trim() ?? before?.settings.apiKeyHeader ?? "";
  const problem =
    header === "" ? "A key needs a header that carries it, as in Authorization." : headerNameProblem(header);
  if (problem !== null) note(problem, "header");
  const apiKey = readSecret(change.value, (message, ...path) => note(message, "value", ...path));
  if (typeof apiKey === "object") {
    const wrong = headerValueProblem(apiKey.set);
    if (wrong !== null) note(wrong, "value", "set");
  } else if (apiKey === "clear" || !before?.secrets.hasApiKey) {
    note("A server with a key needs one. Choose another kind of authorisation to do without.", "value");
  }
  const settings = { ...NOTHING, authKind: "api_key" as const, apiKeyHeader: header };
  return { settings, secrets: { ...CLEARED, apiKey } };
}

function ofHeaders(
  before: AuthBefore | null,
  wanted: { name: string; value?: SecretChange }[],
  note: Note,
): Planned {
  if (wanted.length === 0) note("Give at least one header, or choose another kind of authorisation.");
  if (wanted.length > MAX_CUSTOM_HEADERS) note(`A server has at most ${MAX_CUSTOM_HEADERS} headers.`);
  const stored = new Set((before?.secrets.headerNames ?? []).map((name) => name.toLowerCase()));
  const seen = new Set<string>();
  const headers = wanted.slice(0, MAX_CUSTOM_HEADERS).map((given, place) => {
    const noteHere: Note = (message, ...path) => note(message, String(place), ...path);
    const name = given.name.trim();
    const lower = name.toLowerCase();
    const problem = headerNameProblem(name) ?? (seen.has(lower) ? "The header is given twice." : null);
    if (problem !== null) noteHere(problem, "name");
    seen.add(lower);
    return { name, value: readHeaderValue(given.value, stored.has(lower), noteHere) };
  });
  const settings = { ...NOTHING, authKind: "custom_headers" as const };
  return { settings, secrets: { ...CLEARED, customHeaders: { headers } } };
}

/** Null = the one that is stored. */
function readHeaderValue(given: SecretChange | undefined, isStored: boolean, note: Note): string | null {
  const wanted = readSecret(given, (message, ...path) => note(message, "value", ...path));
  if (wanted === "clear") note("A header needs a value. Leave it out of the list to remove it.", "value");
  if (wanted === "keep" && !isStored) note("No header of this name is stored: give its value.", "value");
  if (typeof wanted !== "object") return null;
  const problem = headerValueProblem(wanted.set);
  if (problem !== null) note(problem, "value", "set");
  return wanted.set;
}

/** Blanks around a pasted secret are no part of it. */
function readSecret(given: SecretChange | undefined, note: Note): SecretUpdate {
  if (given === undefined) return "keep";
  if (given.set != null) return { set: given.set.trim() };
  if (given.clear !== true) note("To remove it, say true; to keep it, leave it out.", "clear");
  return "clear";
}

/**
 * A secret that nobody can read must not be read by pointing it elsewhere: whoever moves a server or a client's token
 * address to another host gives the secret anew.
 */
function noteMovedSecrets(
  { settings: old, secrets, movesTo }: AuthBefore,
  planned: Planned,
  note: Note,
): void {
  const message = "The address is another host's now: give this anew, since it was given for the former one.";
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
  for (const [place, { value }] of customHeaders.headers.entries()) {
    if (value === null) note(message, "headers", String(place), "value");
  }
}

/** Null for what is no address; the one who gave it is told so elsewhere. */
function originOf(address: string | null): string | null {
  return address !== null && URL.canParse(address) ? new URL(address).origin : null;
}
