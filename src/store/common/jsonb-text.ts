/**
 * PostgreSQL's jsonb cannot hold U+0000, and command output can. On the way in U+0000 becomes U+E000 U+E001 and
 * U+E000 itself becomes U+E000 U+E000; on the way out both are undone, so every string makes the round trip.
 */

const NEEDS_ESCAPE = /[\u0000\uE000]/;
const ESCAPABLE = /[\u0000\uE000]/g;
const ESCAPED = /\uE000([\uE000\uE001])/g;
// A lone surrogate is legal in JavaScript and rejected by jsonb; it carries no text, so it becomes U+FFFD.
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
const LONE_SURROGATES = new RegExp(LONE_SURROGATE, "g");
// Matches JSON text whose strings may need escaping; a false alarm only costs the slow path.
const SUSPICIOUS = /\\u0000|\uE000|\\ud/;

/** JSON text of `value`, safe for a jsonb parameter. */
export function toJsonb(value: unknown): string {
  const plain = JSON.stringify(value);
  return SUSPICIOUS.test(plain) ? escaped(value) : plain;
}

/** Encoded texts of immutable objects, so that they can be encoded before a transaction starts. */
const encoded = new WeakMap<object, string>();

/** `toJsonb` of a list whose elements never change: each is encoded once, whichever list it comes in. */
export function listToJsonb(elements: readonly object[]): string {
  return `[${elements.map(encodeOnce).join(",")}]`;
}

function encodeOnce(element: object): string {
  const known = encoded.get(element);
  if (known !== undefined) return known;
  const text = toJsonb(element);
  encoded.set(element, text);
  return text;
}

function escaped(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === "string") return escapeText(inner);
    return isObject(inner) && Object.keys(inner).some(isUnsafe) ? mapKeys(inner, escapeText) : inner;
  });
}

/** Reverses `toJsonb`; `stored` is what pg parsed. */
export function fromJsonb<T>(stored: T): T {
  return unescapeValue(stored) as T;
}

function unescapeValue(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\uE000") ? unescapeText(value) : value;
  if (Array.isArray(value)) return value.map(unescapeValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [unescapeText(key), unescapeValue(inner)]),
  );
}

function escapeText(text: string): string {
  if (!isUnsafe(text)) return text;
  return text
    .replace(LONE_SURROGATES, "\uFFFD")
    .replace(ESCAPABLE, (character) => (character === "\u0000" ? "\uE000\uE001" : "\uE000\uE000"));
}

function unescapeText(text: string): string {
  return text.replace(ESCAPED, (_pair, second: string) => (second === "\uE001" ? "\u0000" : "\uE000"));
}

function isUnsafe(text: string): boolean {
  return NEEDS_ESCAPE.test(text) || LONE_SURROGATE.test(text);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mapKeys(value: Record<string, unknown>, change: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [change(key), inner]));
}
