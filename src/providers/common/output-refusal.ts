/**
 * Parser for a vendor's refusal of the requested output tokens. Pure. Wordings were observed on real services and
 * gateways; each new one belongs here, with its test.
 */
import type { OutputRefusal } from "../../domain/common/failures.js";

const NUMBER = String.raw`\`?(\d[\d,_]{0,14})\`?`;
/** Names of the field. */
const FIELD = String.raw`max[ _]?(?:completion|output|new)?[ _]?tokens`;

/** The model's own limit of one answer; the group is the number. */
const MODEL_WORDINGS = [
  // OpenAI and Azure; OpenAI's Responses API and ByteDance; their gateways.
  String.raw`supports at most ${NUMBER} (?:completion|output) tokens`,
  String.raw`\b${FIELD}\b[^.]{0,80}integer above maximum value[^.]{0,40}\. ?expected a value <= ${NUMBER}`,
  String.raw`\b${FIELD}\b[^.]{0,80}integer above maximum value, expected(?: a value)? <= ${NUMBER}`,
  // Anthropic; Amazon Bedrock.
  String.raw`${FIELD}: ?[\d,]+ ?> ?${NUMBER}, which is the maximum allowed`,
  String.raw`maximum tokens you requested exceeds the model limit of ${NUMBER}`,
  // DeepSeek; Alibaba; Fireworks and others in their manner.
  String.raw`range of ${FIELD}\`?'? (?:is|should be) \[ ?\d+ ?, ?${NUMBER} ?\]`,
  // Groq, Hugging Face, Cohere: "`max_tokens` must be less than or equal to `8192`", "`max_new_tokens` must be <=
  // 4096".
  String.raw`(?<!\+ \`?)${FIELD}\`?'? must be (?:<=|less than or equal to|at most) ?${NUMBER}`,
  // Ollama's cloud.
  String.raw`${FIELD} \([\d,]+\) exceeds (?:the )?model'?s? maximum output tokens \(${NUMBER}\)`,
].map((pattern) => new RegExp(pattern, "i"));

/** Gemini on both of its clouds. The end is exclusive. */
const RANGE_WORDING =
  /maxoutputtokens value of [\d,]+ but the supported range is from \d+ \(inclusive\) to ([\d,]+) \(exclusive\)/i;

/** The context window and the prompt's tokens, as `window` and `prompt`. */
const WINDOW_WORDINGS = [
  // OpenAI's older models and vLLM; OpenRouter, which counts tools apart.
  String.raw`maximum context length is (?<window>[\d,]+) tokens\b.{0,40}you requested (?:about )?[\d,]+ tokens \((?<prompt>[\d,]+) (?:in the messages|of text input)(?:, (?<tools>[\d,]+) (?:in the functions|of tool input))?,(?: and)? [\d,]+ in the (?:completion|output)`,
  // vLLM, newer.
  String.raw`maximum context length is +(?<window>[\d,]+) tokens and your request has (?<prompt>[\d,]+) input tokens`,
  // vLLM reads the prompt only as far as it would fit, so its number is not a count of the prompt.
  String.raw`maximum context length is (?<window>[\d,]+) tokens\. however, you requested [1-9][\d,]* output tokens and your prompt contains`,
  String.raw`you passed [\d,]+ input (?:tokens|characters) and requested [1-9][\d,]* output tokens\. however, the model'?s context length is only (?<window>[\d,]+) tokens`,
  // TensorRT-LLM and vLLM: more output than the whole window.
  String.raw`${FIELD}=[\d,]+ cannot be greater than [a-z_=]*max_(?:model_len|total_tokens)=(?<window>\d+)`,
  // Hugging Face's server, also at Together.
  String.raw`inputs\`? tokens \+ \`?max_new_tokens\`? must be <= (?<window>[\d,]+)\. given: (?<prompt>[\d,]+) `,
  // Anthropic.
  String.raw`input length and \`?max_tokens\`? exceed context limit: (?<prompt>[\d,]+) \+ [\d,]+ > (?<window>[\d,]+)`,
].map((pattern) => new RegExp(pattern, "is"));

/** The message blames the field, for whatever reason. */
const BLAMED = new RegExp(
  String.raw`(?:invalid|unsupported|unrecognized|unknown|not supported|too (?:large|high|big)|exceed|above|greater|must be|out of range)[^.]{0,120}\b${FIELD}|\b${FIELD}\b[^.]{0,120}(?:invalid|not supported|unsupported|too (?:large|high|big)|exceed|must be|out of range|limited|was reached)`,
  "i",
);

/**
 * What an error message says about the requested output; undefined when it is about something else. `text` is the
 * vendor's message and those of its causes.
 */
export function outputRefusalIn(text: string): OutputRefusal | undefined {
  const range = tokensIn(RANGE_WORDING.exec(text)?.[1]);
  if (range !== undefined && range > 1) return { modelLimit: range - 1 };
  for (const wording of WINDOW_WORDINGS) {
    const groups = wording.exec(text)?.groups;
    const window = tokensIn(groups?.window);
    if (groups === undefined || window === undefined) continue;
    const prompt = tokensIn(groups.prompt);
    return { window, ...(prompt === undefined ? {} : { prompt: prompt + (tokensIn(groups.tools) ?? 0) }) };
  }
  for (const wording of MODEL_WORDINGS) {
    const modelLimit = tokensIn(wording.exec(text)?.[1]);
    if (modelLimit !== undefined) return { modelLimit };
  }
  return BLAMED.test(text) ? {} : undefined;
}

/** More than any model has; a greater number does not count tokens. */
const MOST_TOKENS = 1_000_000_000;

function tokensIn(text: string | undefined): number | undefined {
  const tokens = text === undefined ? Number.NaN : Number(text.replace(/[,_]/g, ""));
  return Number.isSafeInteger(tokens) && tokens > 0 && tokens <= MOST_TOKENS ? tokens : undefined;
}
