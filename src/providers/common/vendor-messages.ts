/** Sanitizer for vendors' error messages: one short line without web pages, keys and prompts. Pure. */
import { cutText } from "../../lib/text/utf8.js";
import { wellFormed } from "../../domain/common/well-formed.js";

/** Enough for a sentence or two, in bytes of UTF-8. */
const DETAIL_LIMIT_BYTES = 500;
/** Shorter keys are not masked: they could be ordinary words. */
const SHORTEST_KEY_CHARACTERS = 4;
const CUT_MARK = "…";
const HIDDEN = "[key]";

/**
 * How vendors' keys begin: OpenAI, Anthropic and OpenRouter, Stripe-like, Groq, xAI, Hugging Face, GitHub, NVIDIA,
 * Replicate.
 */
const PREFIXED_KEY = /\b(sk|pk|rk|key|gsk|xai|hf|ghp|gho|glpat|nvapi|r8)[-_][\w*…-]{6,}/gi;
/** Google, AWS (access keys, Bedrock's keys) and JSON Web Tokens. */
const KNOWN_KEY = /\b(AIza|AKIA|ASIA|ABSK|bedrock-api-key-|eyJ)[\w*.+/=-]{7,}[\w=-]/g;
const BEARER = /\b(bearer|basic)\s+[\w.~+/=*-]{5,}[\w=*-]/gi;
/** A partly masked key counts as a key. */
const STARRED = /[\w-]*\*{3,}[\w*-]*/g;
/** Too long and mixed for a word or a request id. */
const LONG_SECRET = /\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{40,}\b/g;
const USER_INFO = /\/\/[^\s/@]+@/g;
const QUERY = /(https?:\/\/[^\s?"'<>]+)\?[^\s"'<>)]+/g;
/** Where an error begins to repeat the request, as Python's validation errors do. */
const ECHO =
  /,?\s*['"\\]+(input|messages|prompt|contents|body|ctx|input_value)['"\\]+\s*:[\s\S]*$|\binput_value=[\s\S]*$/;

/** Empty when nothing may be shown. `apiKey`: our own key, which a vendor may repeat. */
export function sanitizeVendorMessage(message: string, apiKey: string): string {
  const text = message.trim().replace(/\s+/g, " ");
  if (/<(!doctype|html|head|body)\b/i.test(text)) return "";
  const withoutOurs = apiKey.length >= SHORTEST_KEY_CHARACTERS ? text.replaceAll(apiKey, HIDDEN) : text;
  const masked = [PREFIXED_KEY, KNOWN_KEY, STARRED, LONG_SECRET]
    .reduce((rest, pattern) => rest.replace(pattern, HIDDEN), withoutOurs.replace(ECHO, ""))
    .replace(BEARER, `$1 ${HIDDEN}`)
    .replace(USER_INFO, "//")
    .replace(QUERY, "$1");
  const clean = wellFormed(masked);
  if (Buffer.byteLength(clean) <= DETAIL_LIMIT_BYTES) return clean;
  return `${cutText(clean, DETAIL_LIMIT_BYTES - Buffer.byteLength(CUT_MARK))}${CUT_MARK}`;
}
