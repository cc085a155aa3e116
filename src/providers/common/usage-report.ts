/**
 * The numbers of tokens that a vendor reports → ours. They come from outside: servers and proxies were seen to send
 * fractions, words, negative numbers, parts greater than their whole, or zeros for "unknown". None of that may cost an
 * answer, reach the database, or be billed: what is no count is unknown, and the engine estimates it.
 */
import type { ModelStreamPart, ReportedUsage } from "../types.js";

/** What a column of messages holds. Sums of a call's responses end here too. */
export const GREATEST_COUNT = 2 ** 31 - 1;
/** Of a strange value, for the log. */
const SHOWN_CHARACTERS = 40;
/** Strange fields that are remembered of one call; vendors have about as many. */
const ODD_FIELDS_LIMIT = 10;

/** One call's numbers as read so far; undefined = not reported, or no count. */
export type TokenCounts = { [Field in keyof Omit<ReportedUsage, "anomalies">]: number | undefined };

export const NO_COUNTS: TokenCounts = {
  inputTokens: undefined,
  outputTokens: undefined,
  reasoningTokens: undefined,
  cacheReadTokens: undefined,
  cacheWriteTokens: undefined,
};

/** Reads the reports of one call; a new one is made for each. */
export class UsageReport {
  /** Strange values by the vendor's name of the field: each is told once. */
  readonly #odd = new Map<string, string>();

  /** A count, or undefined where there is none. Fractions are rounded up; digits in quotes are a number. */
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

  /** For vendors that count what was read from or written to their cache as part of the prompt. */
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

  /** What the counts are worth together. A report of zeros alone says nothing: every call reads something. */
  part(counts: TokenCounts): Extract<ModelStreamPart, { type: "usage" }> {
    const isUntold = Object.values(counts).every((count) => count === undefined || count === 0);
    const outputTokens = isUntold ? null : bounded(counts.outputTokens);
    const reasoning = bounded(counts.reasoningTokens) ?? 0;
    if (outputTokens !== null && reasoning > outputTokens)
      this.#note("reasoning", `${reasoning} of ${outputTokens}`);
    const usage: ReportedUsage = {
      inputTokens: isUntold ? null : bounded(counts.inputTokens),
      outputTokens,
      reasoningTokens: Math.min(reasoning, outputTokens ?? reasoning),
      cacheReadTokens: bounded(counts.cacheReadTokens) ?? 0,
      cacheWriteTokens: bounded(counts.cacheWriteTokens) ?? 0,
    };
    if (this.#odd.size === 0) return { type: "usage", usage };
    return { type: "usage", usage: { ...usage, anomalies: Object.fromEntries(this.#odd) } };
  }

  #note(field: string, value: string): void {
    if (this.#odd.size < ODD_FIELDS_LIMIT && !this.#odd.has(field)) this.#odd.set(field, value);
  }
}

function bounded(count: number | undefined): number | null {
  return count === undefined ? null : Math.min(count, GREATEST_COUNT);
}

function shown(value: unknown): string {
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isPlain ? String(value).slice(0, SHOWN_CHARACTERS) : "an object";
}
