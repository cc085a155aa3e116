/**
 * Table of list prices and limits of well-known models, so that a new deployment shows costs and its first calls are not
 * refused. A starting point, not a promise: vendors change prices, and contracts differ. A model's configuration takes
 * precedence; the table only fills empty fields.
 *
 * Compiled in November 2026 from the vendors' public price lists (Anthropic: "Pricing" in the Claude documentation;
 * OpenAI: "API pricing"). Standard rates; cache writes are the five-minute ones. A model has no prices here where its
 * rate depends on the prompt's length or is uncertain: no price is better than a wrong one. Output limits are those of
 * the vendors' model pages; null where none was found.
 */
import type { ModelProviderKind } from "../common/failures.js";
import type { ModelPricing } from "../usage/money.js";

/** Changes with the table: a deployment adopts each edition once. */
export const KNOWN_MODELS_EDITION = "2026-11";

type KnownModel = {
  /** Context window in tokens; null = not in the table. */
  contextLimit: number | null;
  /** Output limit in tokens, reasoning included; null = not in the table. */
  outputLimit: number | null;
  /** The maker's own prices; other clouds that sell the model may differ. */
  pricing: ModelPricing | null;
};

const claude = (
  outputLimit: number | null,
  prices: [input: string, output: string, cacheRead: string, cacheWrite: string],
): KnownModel => {
  const [input, output, cacheRead, cacheWrite] = prices;
  return { contextLimit: 200_000, outputLimit, pricing: { input, output, cacheRead, cacheWrite } };
};

/** OpenAI does not charge for cache writes. */
const openai = (
  contextLimit: number,
  outputLimit: number,
  prices: [input: string, output: string, cacheRead: string],
): KnownModel => {
  const [input, output, cacheRead] = prices;
  return { contextLimit, outputLimit, pricing: { input, output, cacheRead, cacheWrite: "0" } };
};

const unpriced = (contextLimit: number, outputLimit: number): KnownModel => ({
  contextLimit,
  outputLimit,
  pricing: null,
});

const FREE: ModelPricing = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };

const KNOWN_MODELS: Readonly<Record<string, KnownModel>> = {
  "parley-demo": { contextLimit: 200_000, outputLimit: null, pricing: FREE },
  "claude-opus-5-5": claude(null, ["4", "20", "0.20", "5"]),
  "claude-opus-5": claude(128_000, ["5", "25", "0.50", "6.25"]),
  "claude-opus-4-5": claude(64_000, ["5", "25", "0.50", "6.25"]),
  "claude-opus-4-1": claude(32_000, ["15", "75", "1.50", "18.75"]),
  "claude-sonnet-5-5": claude(null, ["2", "10", "0.20", "2.50"]),
  "claude-sonnet-5": claude(128_000, ["2", "10", "0.20", "2.50"]),
  "claude-sonnet-4-6": claude(64_000, ["3", "15", "0.30", "3.75"]),
  "claude-haiku-4-5": claude(64_000, ["1", "5", "0.10", "1.25"]),
  "gpt-5": openai(400_000, 128_000, ["1.25", "10", "0.125"]),
  "gpt-5-mini": openai(400_000, 128_000, ["0.25", "2", "0.025"]),
  "gpt-5-nano": openai(400_000, 128_000, ["0.05", "0.40", "0.005"]),
  "gpt-4.1": openai(1_047_576, 32_768, ["2", "8", "0.50"]),
  "gpt-4.1-mini": openai(1_047_576, 32_768, ["0.40", "1.60", "0.10"]),
  "gpt-4.1-nano": openai(1_047_576, 32_768, ["0.10", "0.40", "0.025"]),
  "gpt-4o": openai(128_000, 16_384, ["2.50", "10", "1.25"]),
  "gpt-4o-mini": openai(128_000, 16_384, ["0.15", "0.60", "0.075"]),
  "gemini-3.8-flash": unpriced(1_048_576, 65_536),
  // Older models still in use; only their small output limits matter.
  "claude-opus-4": unpriced(200_000, 32_000),
  "claude-sonnet-4": unpriced(200_000, 64_000),
  "claude-sonnet-4-5": unpriced(200_000, 64_000),
  "claude-3-7-sonnet": unpriced(200_000, 64_000),
  "claude-3-5-sonnet": unpriced(200_000, 8_192),
  "claude-3-5-haiku": unpriced(200_000, 8_192),
  "claude-3-opus": unpriced(200_000, 4_096),
  "claude-3-haiku": unpriced(200_000, 4_096),
  "gpt-4-turbo": unpriced(128_000, 4_096),
  "gpt-4": unpriced(8_192, 8_192),
  "gpt-3.5-turbo": unpriced(16_385, 4_096),
  o1: unpriced(200_000, 100_000),
  o3: unpriced(200_000, 100_000),
  "o3-mini": unpriced(200_000, 100_000),
  "o4-mini": unpriced(200_000, 100_000),
  // Vertex AI accepts one token less than documented.
  "gemini-2.5-pro": unpriced(1_048_576, 65_535),
  "gemini-2.5-flash": unpriced(1_048_576, 65_535),
  "gemini-2.0-flash": unpriced(1_048_576, 8_192),
};

/** Looks up a model by the vendor's id, also with a date suffix or in Bedrock's form; null = not in the table. */
export function findKnownModel(model: string): KnownModel | null {
  const name = model
    .replace(/^(?:[a-z]+\.)?anthropic\./, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
  return Object.hasOwn(KNOWN_MODELS, name) ? (KNOWN_MODELS[name] ?? null) : null;
}

/** List prices of a known model at its maker; null at other providers, whose prices are not in the table. */
export function knownPricing(kind: ModelProviderKind, model: string): ModelPricing | null {
  const isMaker = kind === "anthropic" || kind === "openai" || kind === "google";
  return isMaker ? (findKnownModel(model)?.pricing ?? null) : null;
}
