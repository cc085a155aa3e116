/**
 * Sanitizes the token counts that a vendor reports. Servers and proxies were seen to send fractions, text, negative
 * numbers, parts greater than their total, or zeros for "unknown". None of that may fail an answer, reach the database,
 * or be billed: an invalid count is unknown, and the engine estimates it.
 */
import type { ModelStreamPart, ReportedUsage } from "../types.js";

/** Maximum of the database column; sums of a call's responses are capped as well. */
const GREATEST_COUNT = 2 ** 31 - 1;
/** Of an invalid value, for the log. */
const SHOWN_CHARACTERS = 40;
/** Recorded anomalies of one call; vendors have about as many fields. */
const ANOMALIES_LIMIT = 10;

/** One call's counts so far; undefined = not reported, or invalid. */
export type TokenCounts = { [Field in keyof Omit<ReportedUsage, "anomalies">]: number | undefined };

export const NO_COUNTS: TokenCounts = {
  inputTokens: undefined,
  outputTokens: undefined,
  reasoningTokens: undefined,
  cacheReadTokens: undefined,
  cacheWriteTokens: undefined,
};

/** Sanitizer for the reports of one call; create one for each. */
export class UsageReport {
  /** Invalid values by the vendor's field name; the first of each field. */
  readonly #anomalies = new Map<string, string>();

  /** A valid count, or undefined. Fractions are rounded up; a string of digits is a number. */
  count(field: string, value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= GREATEST_COUNT)
      return value;
    this.#note(field, shown(value));
    const number = typeof value === "string" && /^\d{1,10}(\.\d{1,10})?$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isFinite(number) || number < 0) return undefined;
    const count = Math.ceil(number);
    return count <= GREATEST_COUNT ? count : undefined;
  }

  /** For vendors whose prompt count includes cache reads and writes. */
  uncached(
    prompt: number | undefined,
    cacheRead = 0,
    cacheWrite = 0,
  ): Pick<TokenCounts, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens"> {
    if (prompt === undefined)
      return { inputTokens: undefined, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite };
    if (cacheRead + cacheWrite > prompt) this.#note("cached", `${cacheRead + cacheWrite} of ${prompt}`);
    const cacheReadTokens = Math.min(cacheRead, prompt);
    const cacheWriteTokens = Math.min(cacheWrite, prompt - cacheReadTokens);
    return { inputTokens: prompt - cacheReadTokens - cacheWriteTokens, cacheReadTokens, cacheWriteTokens };
  }

  /** The usage part of the counts. A report of zeros only counts as missing: every call has input. */
  part(counts: TokenCounts): Extract<ModelStreamPart, { type: "usage" }> {
    const isMissing = Object.values(counts).every((count) => count === undefined || count === 0);
    const outputTokens = isMissing ? null : bounded(counts.outputTokens);
    const reasoning = bounded(counts.reasoningTokens) ?? 0;
    if (outputTokens !== null && reasoning > outputTokens)
      this.#note("reasoning", `${reasoning} of ${outputTokens}`);
    const usage: ReportedUsage = {
      inputTokens: isMissing ? null : bounded(counts.inputTokens),
      outputTokens,
      reasoningTokens: Math.min(reasoning, outputTokens ?? reasoning),
      cacheReadTokens: bounded(counts.cacheReadTokens) ?? 0,
      cacheWriteTokens: bounded(counts.cacheWriteTokens) ?? 0,
    };
    if (this.#anomalies.size === 0) return { type: "usage", usage };
    return { type: "usage", usage: { ...usage, anomalies: Object.fromEntries(this.#anomalies) } };
  }

  #note(field: string, value: string): void {
    if (this.#anomalies.size < ANOMALIES_LIMIT && !this.#anomalies.has(field))
      this.#anomalies.set(field, value);
  }
}

function bounded(count: number | undefined): number | null {
  return count === undefined ? null : Math.min(count, GREATEST_COUNT);
}

function shown(value: unknown): string {
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isPlain ? String(value).slice(0, SHOWN_CHARACTERS) : "an object";
}
