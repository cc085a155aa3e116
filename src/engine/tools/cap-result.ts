/**
 * Keeps a tool's result within what a model can take. What is cut here is cut for everybody: the stored result,
 * the client's and the model's are one. Pure.
 */
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import { cutString, jsonBytes } from "../../lib/text/cut-string.js";

/** About 16,000 tokens: more than a model reads with care, and no more than a fraction of usual contexts. */
export const MAX_RESULT_BYTES = 64 * 1024;
/** Below that a result says too little to be worth its call, however small the model. */
export const MIN_RESULT_BYTES = 16 * 1024;
/** The usual estimate for English and code. */
const BYTES_PER_TOKEN = 4;
const CONTEXT_SHARE = 1 / 2;

/** Strings are cut down to this before anything is left out whole; a line of read_file is as long. */
const SHORTEST_STRING_BYTES = 1024;
/** Elements of lists are cut down to this before some are left out. */
const SHORTEST_ELEMENT_BYTES = 1024;
/** Fields are cut down to this before some are left out: a result keeps its shape as long as it can. */
const SHORTEST_FIELD_BYTES = 128;
/** Of what remains when the middle is left out, the share of the beginning; the rest is the end's. */
const HEAD_SHARE = 2 / 3;
/** For the note that says how much was left out, its quotes, its key and its comma included. */
const NOTE_BYTES = 64;
const NOTE_KEY = "...";

/** Half of the model's context, within 16 and 64 KiB; a context that nobody knows counts as large. */
export function resultLimitBytes(contextLimitTokens: number | null): number {
  if (contextLimitTokens === null || Number.isNaN(contextLimitTokens)) return MAX_RESULT_BYTES;
  const shareBytes = Math.floor(contextLimitTokens * BYTES_PER_TOKEN * CONTEXT_SHARE);
  return Math.min(MAX_RESULT_BYTES, Math.max(MIN_RESULT_BYTES, shareBytes));
}

/**
 * `result` in at most `limitBytes` (at least 128) bytes of JSON; as it is when it fits. Long strings lose their
 * middle first, the longest most; then lists, and at last objects, lose entries from their middle. Each cut says
 * how much it left out. `result` is plain JSON, without circles.
 */
export function capResult(result: JsonValue, limitBytes: number): JsonValue {
  const strings: number[] = [];
  const totalBytes = measure(result, strings);
  if (totalBytes <= limitBytes) return result;
  const otherBytes = totalBytes - strings.reduce((sum, size) => sum + size, 0);
  const level = levelOf(strings, limitBytes - otherBytes);
  return new Fitting(Math.max(level, SHORTEST_STRING_BYTES)).fit(result, limitBytes);
}

/** Bytes of the value as JSON; the size of each string in it, keys aside, is added to `strings`. */
function measure(value: JsonValue, strings: number[]): number {
  if (typeof value === "string") {
    const size = jsonBytes(value);
    strings.push(size);
    return size;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value).length;
  if (Array.isArray(value)) {
    return value.reduce<number>(
      (sum, inner) => sum + measure(inner, strings) + 1,
      value.length === 0 ? 2 : 1,
    );
  }
  const entries = Object.entries(value);
  return entries.reduce(
    (sum, [key, inner]) => sum + jsonBytes(key) + measure(inner, strings) + 2,
    entries.length === 0 ? 2 : 1,
  );
}

/** The highest level such that the sizes, each cut down to it, make at most `available`; Infinity if none is cut. */
function levelOf(sizes: readonly number[], available: number): number {
  const ascending = Float64Array.from(sizes).sort();
  let rest = available;
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(rest / (ascending.length - index));
    if (size > share) return share;
    rest -= size;
  }
  return Infinity;
}

/** One value being made to fit. Strings count at most as the level they will be cut to. */
class Fitting {
  readonly #sizes = new Map<object, number>();

  constructor(private readonly longestStringBytes: number) {}

  /** At most `budgetBytes` of JSON; below 64 only what always fits. */
  fit(value: JsonValue, budgetBytes: number): JsonValue {
    if (typeof value === "string") return cutString(value, Math.min(budgetBytes, this.longestStringBytes));
    if (typeof value !== "object" || value === null) return value;
    const isWhole = this.#size(value) <= budgetBytes;
    return Array.isArray(value)
      ? this.#fitList(value, isWhole ? Infinity : budgetBytes)
      : this.#fitObject(value, isWhole ? Infinity : budgetBytes);
  }

  #fitList(list: JsonValue[], budgetBytes: number): JsonValue[] {
    const sizes = list.map((inner) => this.#size(inner) + 1);
    const level = levelOf(sizes, budgetBytes - 1);
    if (level >= SHORTEST_ELEMENT_BYTES) return list.map((inner) => this.fit(inner, level - 1));
    const kept = keepEnds(sizes, budgetBytes, SHORTEST_ELEMENT_BYTES);
    const keep = (inner: JsonValue) => this.fit(inner, SHORTEST_ELEMENT_BYTES - 1);
    return [
      ...list.slice(0, kept.head).map(keep),
      `... [${kept.left} of ${list.length} items left out] ...`,
      ...list.slice(list.length - kept.tail).map(keep),
    ];
  }

  #fitObject(object: JsonObject, budgetBytes: number): JsonObject {
    const entries = Object.entries(object);
    const keyBytes = entries.map(([key]) => jsonBytes(key) + 2);
    const valueBytes = entries.map(([, inner]) => this.#size(inner));
    const level = levelOf(valueBytes, budgetBytes - 1 - keyBytes.reduce((sum, size) => sum + size, 0));
    const fitTo = (limit: number) => (entry: [string, JsonValue]) =>
      [entry[0], this.fit(entry[1], limit)] as const;
    if (level >= SHORTEST_FIELD_BYTES) return Object.fromEntries(entries.map(fitTo(level)));
    const cutBytes = valueBytes.map(
      (size, index) => (keyBytes[index] ?? 0) + Math.min(size, SHORTEST_FIELD_BYTES),
    );
    const kept = keepEnds(cutBytes, budgetBytes, Infinity);
    return Object.fromEntries([
      ...entries.slice(0, kept.head).map(fitTo(SHORTEST_FIELD_BYTES)),
      [unusedKey(object), `[${kept.left} of ${entries.length} fields left out]`] as const,
      ...entries.slice(entries.length - kept.tail).map(fitTo(SHORTEST_FIELD_BYTES)),
    ]);
  }

  /** An upper bound of the bytes, each value measured once. */
  #size(value: JsonValue): number {
    if (typeof value === "string") return Math.min(jsonBytes(value), this.longestStringBytes);
    if (typeof value !== "object" || value === null) return JSON.stringify(value).length;
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    const size = Array.isArray(value)
      ? value.reduce<number>((sum, inner) => sum + this.#size(inner) + 1, 2)
      : Object.entries(value).reduce((sum, [key, inner]) => sum + jsonBytes(key) + this.#size(inner) + 2, 2);
    this.#sizes.set(value, size);
    return size;
  }
}

/** How many entries of the beginning and of the end fit beside the note, each cut to `longest` at most. */
function keepEnds(
  sizes: readonly number[],
  budgetBytes: number,
  longest: number,
): { head: number; tail: number; left: number } {
  const available = budgetBytes - NOTE_BYTES;
  const count = (ordered: readonly number[], share: number): number => {
    let rest = share;
    const end = ordered.findIndex((size) => (rest -= Math.min(size, longest)) < 0);
    return end < 0 ? ordered.length : end;
  };
  const headBytes = Math.floor(available * HEAD_SHARE);
  const head = count(sizes, headBytes);
  const tail = count(sizes.slice(head).reverse(), available - headBytes);
  return { head, tail, left: sizes.length - head - tail };
}

/** Usually "..."; a note must not take the place of a field that has that name. */
function unusedKey(object: JsonObject): string {
  let key = NOTE_KEY;
  for (let count = 1; Object.hasOwn(object, key); count += 1) key = `${NOTE_KEY}${count}`;
  return key;
}
