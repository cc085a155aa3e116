/** Whatever a tool's code returned → JSON that can be stored, streamed and sent to every vendor. Pure. */
import type { JsonValue } from "./json.js";
import { MAX_JSON_DEPTH } from "./json-depth.js";
import { wellFormed } from "./well-formed.js";

/** Bounds the time for a value that holds the same object again and again; as text it would be megabytes. */
const MAX_VALUES = 1_000_000;

const CIRCLE_TEXT = "[circular]";
const TOO_DEEP_TEXT = "[nested too deeply]";

type Walk = { path: unknown[]; values: number };

/**
 * A copy with the meaning of `JSON.stringify` (dates as text, no functions), except where that throws or loses:
 * `undefined` alone is null, big integers are numbers or their digits, circles and depths beyond 100 are marked,
 * and half a surrogate pair is U+FFFD, as the database would make it later.
 * Throws a `RangeError` beyond a million values, and whatever a getter or `toJSON` throws.
 */
export function plainJson(value: unknown): JsonValue {
  return plain(value, "", { path: [], values: 0 }) ?? null;
}

function plain(given: unknown, key: string, walk: Walk): JsonValue | undefined {
  walk.values += 1;
  if (walk.values > MAX_VALUES) throw new RangeError(`The result holds more than ${MAX_VALUES} values.`);
  const value = hasToJson(given) ? given.toJSON(key) : given;
  switch (typeof value) {
    case "string":
      return wellFormed(value);
    case "number":
      return Number.isFinite(value) ? value : null;
    case "boolean":
      return value;
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    case "object":
      return value === null ? null : plainObject(value, walk);
    default:
      return undefined;
  }
}

function plainObject(value: object, walk: Walk): JsonValue {
  if (value instanceof String || value instanceof Number || value instanceof Boolean) {
    return plain(value.valueOf(), "", walk) ?? null;
  }
  if (walk.path.includes(value)) return CIRCLE_TEXT;
  if (walk.path.length >= MAX_JSON_DEPTH) return TOO_DEEP_TEXT;
  walk.path.push(value);
  const result = Array.isArray(value)
    ? Array.from(value, (inner: unknown, index) => plain(inner, String(index), walk) ?? null)
    : plainEntries(value, walk);
  walk.path.pop();
  return result;
}

/** `Object.fromEntries` defines each key, so that one called `__proto__` is only a key. */
function plainEntries(value: object, walk: Walk): JsonValue {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]): [string, JsonValue][] => {
      const result = plain(inner, key, walk);
      return result === undefined ? [] : [[wellFormed(key), result]];
    }),
  );
}

function hasToJson(value: unknown): value is { toJSON(key: string): unknown } {
  return (
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
  );
}
