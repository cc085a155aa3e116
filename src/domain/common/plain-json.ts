/** Conversion of arbitrary values that tools return to JSON that can be stored, streamed and sent to every vendor. Pure. */
import type { JsonValue } from "./json.js";
import { MAX_JSON_DEPTH } from "./json-depth.js";
import { wellFormed } from "./well-formed.js";

/** Bounds the time for a value that contains the same object many times; as text it would be megabytes. */
const MAX_VALUES = 1_000_000;

const CIRCULAR_TEXT = "[circular]";
const TOO_DEEP_TEXT = "[nested too deeply]";

type Walk = { path: unknown[]; values: number };

/**
 * A copy that follows `JSON.stringify` (dates as text, no functions), except where that throws or loses data: a top-level
 * `undefined` is null, big integers are numbers or their digits, circular references and depths beyond 100 are marked,
 * and a lone surrogate is U+FFFD, as the database would store it.
 * Throws a `RangeError` beyond a million values, and whatever a getter or `toJSON` throws.
 */
export function plainJson(value: unknown): JsonValue {
  return plain(value, "", { path: [], values: 0 }) ?? null;
}

function plain(input: unknown, key: string, walk: Walk): JsonValue | undefined {
  walk.values += 1;
  if (walk.values > MAX_VALUES) throw new RangeError(`The result has more than ${MAX_VALUES} values.`);
  const value = hasToJson(input) ? input.toJSON(key) : input;
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
  if (walk.path.includes(value)) return CIRCULAR_TEXT;
  if (walk.path.length >= MAX_JSON_DEPTH) return TOO_DEEP_TEXT;
  walk.path.push(value);
  const result = Array.isArray(value)
    ? Array.from(value, (inner: unknown, index) => plain(inner, String(index), walk) ?? null)
    : plainEntries(value, walk);
  walk.path.pop();
  return result;
}

/** `Object.fromEntries` defines keys rather than assigning them, so `__proto__` is just a key. */
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
