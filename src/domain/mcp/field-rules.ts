/** What single values of a tool server's settings must be: addresses, texts, headers, OAuth scopes. Pure. */

/** What is wrong with a value; `path` from the input's root. The message never repeats the value: it may be a secret. */
export type Problem = { message: string; path: string[] };
export type Note = (message: string, ...path: string[]) => void;

/** Longer addresses are refused by some servers and proxies. */
const MAX_ADDRESS_CHARACTERS = 2_048;
const MAX_HEADER_NAME_CHARACTERS = 100;
/** What common servers take for all headers of a request together. */
const MAX_HEADER_VALUE_CHARACTERS = 8_192;
const MAX_SCOPES = 100;
const MAX_SCOPE_CHARACTERS = 256;

/** RFC 9110, 5.6.2: `token`. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII with blanks inside: what every server reads alike. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** RFC 6749, 3.3: `scope-token`. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Those of one connection (RFC 9110, 7.6.1), of the message itself, and of the protocol, which sets its own. */
const RESERVED_HEADERS = new Set([
  "accept",
  "connection",
  "expect",
  "host",
  "keep-alive",
  "last-event-id",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const RESERVED_BEGINNINGS = ["content-", "mcp-", "proxy-"];

/** Of a value that may be absent, which keeps, or null, which clears. */
export function keepOrClear<T>(given: null | undefined, old: T): T | null {
  return given === null ? null : old;
}

/** As `URL` writes it, so that two spellings of one address are equal; what was given when it is none. */
export function readAddress(text: string, note: (message: string) => void): string {
  const trimmed = text.trim();
  if (trimmed.length > MAX_ADDRESS_CHARACTERS) {
    note(`An address has at most ${MAX_ADDRESS_CHARACTERS} characters.`);
    return trimmed;
  }
  if (!/^https?:\/\//i.test(trimmed) || !URL.canParse(trimmed)) {
    note("An address begins with https:// or http://, as in https://mcp.example/mcp.");
    return trimmed;
  }
  const url = new URL(trimmed);
  if (url.username !== "" || url.password !== "") note("An address has no user or password in it.");
  if (url.hash !== "" || trimmed.includes("#")) note("An address has no # part: it would not be sent.");
  return url.href;
}

/** Trimmed. Line breaks and tabs are all that may be in it beside what can be seen. */
export function readPlainText(
  text: string,
  { min, max }: { min: number; max: number },
  note: (message: string) => void,
): string {
  const trimmed = text.trim();
  if (trimmed.length < min) note("It is blank.");
  if (trimmed.length > max) note(`It has at most ${max.toLocaleString("en")} characters.`);
  // oxlint-disable-next-line no-control-regex -- these are what must not be there.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(trimmed))
    note("It has control characters in it.");
  return trimmed;
}

/** Null when a server may be sent a header of this name. */
export function headerNameProblem(name: string): string | null {
  if (name.length > MAX_HEADER_NAME_CHARACTERS || !HEADER_NAME.test(name)) {
    return `A header's name is 1 to ${MAX_HEADER_NAME_CHARACTERS} letters, digits or - and the like, without blanks or colons.`;
  }
  const lower = name.toLowerCase();
  const isReserved = RESERVED_HEADERS.has(lower) || RESERVED_BEGINNINGS.some((it) => lower.startsWith(it));
  return isReserved ? "This header is the protocol's own and cannot be set." : null;
}

/** Null when it can be a header's value. */
export function headerValueProblem(value: string): string | null {
  if (value === "") return "The value is blank.";
  if (value.length > MAX_HEADER_VALUE_CHARACTERS) {
    return `A header's value has at most ${MAX_HEADER_VALUE_CHARACTERS.toLocaleString("en")} characters.`;
  }
  return HEADER_VALUE.test(value)
    ? null
    : "A header's value has only visible ASCII characters and blanks between them.";
}

/** Each once, in the order given. */
export function readScopes(scopes: readonly string[], note: Note): string[] {
  if (scopes.length > MAX_SCOPES) note(`At most ${MAX_SCOPES} scopes can be asked for.`);
  for (const [place, scope] of scopes.slice(0, MAX_SCOPES).entries()) {
    if (scope.length > MAX_SCOPE_CHARACTERS || !SCOPE.test(scope)) {
      const rule = `1 to ${MAX_SCOPE_CHARACTERS} visible ASCII characters without blanks, " and \\.`;
      note(`A scope is ${rule} Give each as an entry of its own.`, String(place));
    }
  }
  return [...new Set(scopes)];
}
