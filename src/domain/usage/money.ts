/**
 * Exact cost of model calls. Prices are decimals in US dollars per million tokens, so tokens times price are
 * microdollars; they are multiplied and added as integers and rounded up once, at the end.
 */
import type { TokenUsage } from "../chats/message-parts.js";

/** US dollars per million tokens, as decimal strings. Null = this kind of token has no price of its own. */
export type ModelPricing = {
  input: string | null;
  output: string | null;
  cacheRead: string | null;
  cacheWrite: string | null;
};

/** Decimals of a price; PostgreSQL stores as many. */
export const PRICE_DECIMALS = 10;
/** The highest price, in dollars per million tokens. It keeps the cost of any call within 64 bits. */
export const MAX_PRICE = 1_000_000n;

const UNIT = 10n ** BigInt(PRICE_DECIMALS);
const PRICE = new RegExp(`^(\\d{1,10})(?:\\.(\\d{1,${PRICE_DECIMALS}}))?$`);

/** A price in 10^-10 microdollars per token; null for signs, exponents, too many digits and other invalid text. */
export function parsePrice(text: string): bigint | null {
  const match = PRICE.exec(text);
  if (!match) return null;
  const [, whole = "", decimals = ""] = match;
  const price = BigInt(whole) * UNIT + BigInt(decimals.padEnd(PRICE_DECIMALS, "0"));
  return price <= MAX_PRICE * UNIT ? price : null;
}

/**
 * Whole microdollars, rounded up. Null = unpriced: there are no prices or no usage, or tokens were used but none of a
 * kind that has a price. Tokens of a kind without a price cost nothing beside others that have one: a vendor that does
 * not charge for cache writes has no price for them. Reasoning is part of the output and is not added again.
 */
export function costMicros(usage: TokenUsage | null, pricing: ModelPricing | null): bigint | null {
  if (usage === null || pricing === null) return null;
  const kinds: [number, string | null][] = [
    [usage.inputTokens, pricing.input],
    [usage.outputTokens, pricing.output],
    [usage.cacheReadTokens, pricing.cacheRead],
    [usage.cacheWriteTokens, pricing.cacheWrite],
  ];
  if (kinds.every(([, price]) => price === null)) return null;
  const used = kinds.filter(([tokens]) => tokens > 0);
  const priced = used.filter(([, price]) => price !== null);
  if (used.length > 0 && priced.length === 0) return null;
  const sum = priced.reduce((total, [tokens, price]) => total + BigInt(tokens) * requirePrice(price), 0n);
  return (sum + UNIT - 1n) / UNIT;
}

function requirePrice(text: string | null): bigint {
  const price = text === null ? null : parsePrice(text);
  if (price === null) throw new Error(`${JSON.stringify(text)} is not a price.`);
  return price;
}

const DOLLAR_DECIMALS = 6;

/** Formats whole microdollars without rounding: `$12.50`, `$0.000001`. */
export function formatDollars(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(DOLLAR_DECIMALS + 1, "0");
  const decimals = digits.slice(-DOLLAR_DECIMALS).replace(/0{1,4}$/, "");
  return `${micros < 0n ? "-" : ""}$${digits.slice(0, -DOLLAR_DECIMALS)}.${decimals}`;
}
