/** Extraction of a model's context window, in tokens, from model descriptions and error messages. Pure. */

/** Names of the field, reduced to lower-case letters and digits. `maxmodellen` is vLLM's. */
const LIMIT_KEYS = new Set([
  "contextlimit",
  "contextwindow",
  "contextlength",
  "maxcontext",
  "maxcontexttokens",
  "maxinputtokens",
  "maxinputtoken",
  "inputtokenlimit",
  "maxmodellen",
]);
/** Model descriptions are shallow; deeper nesting is ignored. */
const DEPTH_LIMIT = 8;

/**
 * The largest context window named anywhere in a vendor's description of a model; undefined when there is none.
 * Counts positive whole numbers, also written as text, under keys like `context_length` or `maxInputTokens`;
 * counters such as `context_tokens_used` are no limits.
 */
export function findContextLimitIn(description: unknown): number | undefined {
  const found = limitsIn(description, 0);
  return found.length === 0 ? undefined : Math.max(...found);
}

function limitsIn(value: unknown, depth: number): number[] {
  if (typeof value !== "object" || value === null || depth > DEPTH_LIMIT) return [];
  if (Array.isArray(value)) return value.flatMap((entry) => limitsIn(entry, depth + 1));
  return Object.entries(value).flatMap(([key, entry]: [string, unknown]) => {
    const tokens = namesLimit(key) ? positiveInteger(entry) : undefined;
    return tokens === undefined ? limitsIn(entry, depth + 1) : [tokens];
  });
}

function namesLimit(key: string): boolean {
  if (LIMIT_KEYS.has(key.toLowerCase().replace(/[^a-z0-9]/g, ""))) return true;
  const words = new Set(
    key
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .split(/[^a-z0-9]+/),
  );
  if (!words.has("context")) return false;
  const isTokens = words.has("token") || words.has("tokens");
  return (
    words.has("limit") ||
    (words.has("window") && (words.has("size") || words.has("max"))) ||
    (words.has("length") && words.has("max")) ||
    (isTokens && (words.has("max") || words.has("limit")))
  );
}

function positiveInteger(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

const NUMBER = String.raw`(\d[\d,_]{2,14})`;

/**
 * How vendors name the window when they refuse a prompt, observed on real services; the group is the number.
 * Each new wording belongs here, with its test.
 */
const LIMIT_WORDINGS = [
  // OpenAI, vLLM, OpenRouter, DeepSeek, Llama on Bedrock; xAI says "prompt length".
  String.raw`maximum (?:context|prompt|input) length (?:is|of) (?:only )?${NUMBER}`,
  // Mistral.
  String.raw`too large for model with ${NUMBER} maximum context`,
  // Anthropic, also on Bedrock: the prompt, or the prompt and the asked output together.
  String.raw`tokens > ${NUMBER} maximum`,
  String.raw`exceed context limit: [\d,]+ \+ [\d,]+ > ${NUMBER}`,
  // Google.
  String.raw`maximum number of (?:input )?tokens allowed \(?${NUMBER}`,
  // llama.cpp; Moonshot; GitHub; LM Studio and others.
  String.raw`available context size \(${NUMBER} tokens`,
  String.raw`model token limit:? ${NUMBER}`,
  String.raw`token count of [\d,]+ exceeds the (?:context )?limit of ${NUMBER}`,
  String.raw`context (?:window|length|size|limit)(?: of| is|:| =)? (?:only )?\(?${NUMBER}(?: tokens)?`,
].map((pattern) => new RegExp(pattern, "i"));

/** The context window in the error message for a prompt that is too long; undefined when it has none. */
export function contextLimitIn(text: string): number | undefined {
  for (const wording of LIMIT_WORDINGS) {
    const tokens = positiveInteger(wording.exec(text)?.[1]?.replace(/[,_]/g, ""));
    if (tokens !== undefined) return tokens;
  }
  return undefined;
}
