/**
 * Caps a tool's result to a size that fits the model. The cut applies to everyone: the stored result, the client's and
 * the model's are the same. Pure.
 */
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import { cutString, jsonBytes } from "../../lib/text/cut-string.js";

/** About 16,000 tokens: more than a model reads with care, and a fraction of usual contexts. */
const MAX_RESULT_BYTES = 64 * 1024;
/** However small the model: a shorter result is not worth its call. */
const MIN_RESULT_BYTES = 16 * 1024;
/** The usual estimate for English and code. */
const BYTES_PER_TOKEN = 4;
const CONTEXT_SHARE = 1 / 2;

/** Strings are cut down to this before entries are omitted; a line of read_file is as long. */
const SHORTEST_STRING_BYTES = 1024;
/** Elements of lists are cut down to this before some are omitted. */
const SHORTEST_ELEMENT_BYTES = 1024;
/** Fields are cut down to this before some are omitted: a result keeps its shape as long as possible. */
const SHORTEST_FIELD_BYTES = 128;
/** Share of the beginning when the middle is omitted; the rest is for the end. */
const HEAD_SHARE = 2 / 3;
/** For the note about omitted entries, with its quotes, key and comma. */
const NOTE_BYTES = 64;
const NOTE_KEY = "...";

/** Half of the model's context, between 16 and 64 KiB; an unknown context counts as large. */
export function resultLimitBytes(contextLimitTokens: number | null): number {
  if (contextLimitTokens === null || Number.isNaN(contextLimitTokens)) return MAX_RESULT_BYTES;
  const shareBytes = Math.floor(contextLimitTokens * BYTES_PER_TOKEN * CONTEXT_SHARE);
  return Math.min(MAX_RESULT_BYTES, Math.max(MIN_RESULT_BYTES, shareBytes));
}

/**
 * Returns `result` in at most `limitBytes` (at least 128) bytes of JSON; unchanged when it fits. Long strings lose their
 * middle first, the longest most; then lists, and finally objects, lose entries from their middle. Each cut notes how
 * much it omitted. `result` is plain JSON, without cycles.
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

/** Fits one value into a budget. Strings count at most as the level they will be cut to. */
class Fitting {
  readonly #sizes = new Map<object, number>();

  constructor(private readonly longestStringBytes: number) {}

  /** Returns at most `budgetBytes` of JSON; below 64 bytes only values that always fit. */
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
    const ends = headAndTail(sizes, budgetBytes, SHORTEST_ELEMENT_BYTES);
    const fitElement = (inner: JsonValue) => this.fit(inner, SHORTEST_ELEMENT_BYTES - 1);
    return [
      ...list.slice(0, ends.head).map(fitElement),
      `... [${ends.omitted} of ${list.length} items left out] ...`,
      ...list.slice(list.length - ends.tail).map(fitElement),
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
    const ends = headAndTail(cutBytes, budgetBytes, Infinity);
    return Object.fromEntries([
      ...entries.slice(0, ends.head).map(fitTo(SHORTEST_FIELD_BYTES)),
      [unusedKey(object), `[${ends.omitted} of ${entries.length} fields left out]`] as const,
      ...entries.slice(entries.length - ends.tail).map(fitTo(SHORTEST_FIELD_BYTES)),
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

/** Numbers of entries at the beginning and the end that fit beside the note, each cut to at most `longest`. */
function headAndTail(
  sizes: readonly number[],
  budgetBytes: number,
  longest: number,
): { head: number; tail: number; omitted: number } {
  const available = budgetBytes - NOTE_BYTES;
  const count = (ordered: readonly number[], share: number): number => {
    let rest = share;
    const end = ordered.findIndex((size) => (rest -= Math.min(size, longest)) < 0);
    return end < 0 ? ordered.length : end;
  };
  const headBytes = Math.floor(available * HEAD_SHARE);
  const head = count(sizes, headBytes);
  const tail = count(sizes.slice(head).reverse(), available - headBytes);
  return { head, tail, omitted: sizes.length - head - tail };
}

/** Usually "..."; a note must not replace a field of that name. */
function unusedKey(object: JsonObject): string {
  let key = NOTE_KEY;
  for (let count = 1; Object.hasOwn(object, key); count += 1) key = `${NOTE_KEY}${count}`;
  return key;
}
