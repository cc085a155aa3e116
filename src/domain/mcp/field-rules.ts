/** Validation of single fields of settings: addresses, texts, headers, OAuth scopes. Pure. */

/** A validation problem; `path` from the input's root. The message never repeats the value, which may be a secret. */
export type Problem = { message: string; path: string[] };
export type Note = (message: string, ...path: string[]) => void;

/** Some servers and proxies refuse longer addresses. */
const MAX_ADDRESS_CHARACTERS = 2_048;
const MAX_HEADER_NAME_CHARACTERS = 100;
/** The limit of common servers for all headers of a request together. */
const MAX_HEADER_VALUE_CHARACTERS = 8_192;
const MAX_SCOPES = 100;
const MAX_SCOPE_CHARACTERS = 256;

/** RFC 9110, 5.6.2: `token`. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII with inner white space: all that every server reads alike. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** RFC 6749, 3.3: `scope-token`. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Hop-by-hop headers (RFC 9110, 7.6.1), headers of the message itself, and headers that the protocol sets. */
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
const RESERVED_PREFIXES = ["content-", "mcp-", "proxy-"];

/** The value after a change without a new one: undefined keeps, null clears. */
export function keepOrClear<T>(change: null | undefined, old: T): T | null {
  return change === null ? null : old;
}

/** The address as `URL` normalizes it, so that two spellings are equal; the trimmed input when it is invalid. */
export function readAddress(text: string, note: (message: string) => void): string {
  const trimmed = text.trim();
  if (trimmed.length > MAX_ADDRESS_CHARACTERS) {
    note(`An address may have at most ${MAX_ADDRESS_CHARACTERS} characters.`);
    return trimmed;
  }
  if (!/^https?:\/\//i.test(trimmed) || !URL.canParse(trimmed)) {
    note("An address must begin with https:// or http://, as in https://mcp.example/mcp.");
    return trimmed;
  }
  const url = new URL(trimmed);
  if (url.username !== "" || url.password !== "") note("An address must not contain a user or password.");
  if (url.hash !== "" || trimmed.includes("#"))
    note("An address must not contain a # part, which would not be sent.");
  return url.href;
}

/** The trimmed text. Line breaks and tabs are the only control characters allowed. */
export function readPlainText(
  text: string,
  { min, max }: { min: number; max: number },
  note: (message: string) => void,
): string {
  const trimmed = text.trim();
  if (trimmed.length < min) note("It must not be blank.");
  if (trimmed.length > max) note(`It may have at most ${max.toLocaleString("en")} characters.`);
  // oxlint-disable-next-line no-control-regex -- exactly these are forbidden.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(trimmed))
    note("It must not contain control characters.");
  return trimmed;
}

/** The problem of a header name; null when it is valid. */
export function headerNameProblem(name: string): string | null {
  if (name.length > MAX_HEADER_NAME_CHARACTERS || !HEADER_NAME.test(name)) {
    return `A header name must be 1 to ${MAX_HEADER_NAME_CHARACTERS} letters, digits, hyphens or similar, without spaces or colons.`;
  }
  const lower = name.toLowerCase();
  const isReserved = RESERVED_HEADERS.has(lower) || RESERVED_PREFIXES.some((it) => lower.startsWith(it));
  return isReserved ? "This header is set by the protocol and cannot be changed." : null;
}

/** The problem of a header value; null when it is valid. */
export function headerValueProblem(value: string): string | null {
  if (value === "") return "The value must not be blank.";
  if (value.length > MAX_HEADER_VALUE_CHARACTERS) {
    return `A header value may have at most ${MAX_HEADER_VALUE_CHARACTERS.toLocaleString("en")} characters.`;
  }
  return HEADER_VALUE.test(value)
    ? null
    : "A header value may only have visible ASCII characters, with spaces between them.";
}

/** The scopes without duplicates, in their order. */
export function readScopes(scopes: readonly string[], note: Note): string[] {
  if (scopes.length > MAX_SCOPES) note(`At most ${MAX_SCOPES} scopes can be requested.`);
  for (const [index, scope] of scopes.slice(0, MAX_SCOPES).entries()) {
    if (scope.length > MAX_SCOPE_CHARACTERS || !SCOPE.test(scope)) {
      const rule = `1 to ${MAX_SCOPE_CHARACTERS} visible ASCII characters without spaces, " and \\.`;
      note(`A scope must be ${rule} Enter each as its own item.`, String(index));
    }
  }
  return [...new Set(scopes)];
}
