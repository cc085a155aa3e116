/**
 * Token counts estimated from characters, for vendors that report no usage. Pure, and cheap enough for a whole prompt (a
 * million characters take about 20 ms). Its accuracy is documented in docs/concepts/costs.md and checked by the test beside it.
 */
import type { MessagePart, StoredFile } from "../chats/message-parts.js";

/**
 * Tokens per unit of text. Fitted by least squares of the relative error against o200k_base (OpenAI) and Llama 3's
 * tokenizer, on prose, source code, JSON, logs and translated software messages in 14 languages.
 */
const WEIGHTS = {
  /** A run of up to `WORD_LETTERS` ASCII letters; an inner capital begins another word. */
  word: 1,
  /** Each further `MORE_LETTERS` of a longer word. */
  longWord: 1.3,
  /** Up to three digits. */
  digits: 1.15,
  /** A run of ASCII punctuation, and each further character of it. */
  punctuation: 0.75,
  morePunctuation: 0.5,
  /** A run of more than one space; a single one belongs to the word behind it, a line end to what is before it. */
  indent: 0.35,
  /** One character each, by script. */
  latin: 0.75,
  cyrillic: 0.3,
  han: 1,
  kana: 0.65,
  hangul: 0.8,
  other: 0.5,
  /** Outside the basic plane: emoji above all. */
  astral: 3,
} as const;

const WORD_LETTERS = 8;
const MORE_LETTERS = 4;
/** Letters next to digits are identifiers, hashes and base64, which tokenizers do not have as words. */
const LETTERS_PER_TOKEN_IN_CODES = 2;
const DIGITS_PER_TOKEN = 3;

/** An image as large as vendors accept without shrinking it; Claude's formula (width × height / 750) gives about this. */
const IMAGE_TOKENS = 1_500;
/** Average tokens and bytes of a PDF page, scanned or typeset. */
const DOCUMENT_PAGE_TOKENS = 2_000;
const DOCUMENT_PAGE_BYTES = 50_000;
const TEXT_BYTES_PER_TOKEN = 4;
/** Role, separators and, for tools, the names of the fields around the content. */
const OVERHEAD_TOKENS_PER_MESSAGE = 4;

/** Whole tokens, rounded up; 0 for the empty text. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let index = 0;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code >= FIRST_WIDE) {
      tokens += wideTokens(code);
      index += isHighSurrogate(code) ? 2 : 1;
      continue;
    }
    const kind = KINDS[code] ?? BLANK;
    const end = kind === LETTER ? endOfWord(text, index) : endOfRun(text, index, kind);
    const isCode = kind === LETTER && (isDigitAt(text, index - 1) || isDigitAt(text, end));
    tokens += isCode ? Math.ceil((end - index) / LETTERS_PER_TOKEN_IN_CODES) : runTokens(kind, end - index);
    index = end;
  }
  return Math.ceil(tokens);
}

/** Prompt tokens of a message with these parts; notices, which models never see, count as 0. */
export function estimateMessageTokens(parts: readonly MessagePart[]): number {
  return parts.reduce((sum, part) => sum + partTokens(part), OVERHEAD_TOKENS_PER_MESSAGE);
}

/** Output tokens of a model's answer: text, reasoning (also counted in `output`) and tool calls. */
export function estimateAnswerTokens(parts: readonly MessagePart[]): { output: number; reasoning: number } {
  let [output, reasoning] = [0, 0];
  for (const part of parts) {
    const tokens = part.type === "tool-result" || part.type === "source" ? 0 : partTokens(part);
    output += tokens;
    if (part.type === "reasoning") reasoning += tokens;
  }
  return { output, reasoning };
}

function partTokens(part: MessagePart): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return estimateTokens(part.text);
    case "tool-call":
      return OVERHEAD_TOKENS_PER_MESSAGE + estimateTokens(part.toolName + JSON.stringify(part.arguments));
    case "tool-result": {
      const text = typeof part.result === "string" ? part.result : JSON.stringify(part.result);
      const files = part.files ?? [];
      return files.reduce(
        (sum, file) => sum + fileTokens(file),
        OVERHEAD_TOKENS_PER_MESSAGE + estimateTokens(text),
      );
    }
    case "file-reference":
      return OVERHEAD_TOKENS_PER_MESSAGE + estimateTokens(part.path + part.content);
    case "file":
      return fileTokens(part);
    case "source":
    case "notice":
      return 0;
  }
}

function fileTokens({ mediaType, sizeBytes }: StoredFile): number {
  if (mediaType.startsWith("image/")) return IMAGE_TOKENS;
  if (mediaType.startsWith("application/pdf"))
    return Math.ceil(sizeBytes / DOCUMENT_PAGE_BYTES) * DOCUMENT_PAGE_TOKENS;
  return Math.ceil(sizeBytes / TEXT_BYTES_PER_TOKEN);
}

// ── characters ──────────────────────────────────────────────────────────────

const FIRST_WIDE = 128;

/** Kinds of ASCII characters; numbers, for speed: every character of a prompt is looked up. */
const LETTER = 0;
const DIGIT = 1;
const BLANK = 2;
const LINE_END = 3;
const PUNCTUATION = 4;

const KINDS = Uint8Array.from({ length: FIRST_WIDE }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-zA-Z]/.test(character)) return LETTER;
  if (/\d/.test(character)) return DIGIT;
  if (/[\r\n]/.test(character)) return LINE_END;
  return /[!-~]/.test(character) ? PUNCTUATION : BLANK;
});

/** False beyond either end of the text. */
function isDigitAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 48 && code <= 57;
}

/** A capital after a lower-case letter begins another word, as in camelCase. */
function endOfWord(text: string, start: number): number {
  let wasLower = false;
  for (let index = start; ; index++) {
    const code = text.charCodeAt(index);
    const isLower = code >= 97 && code <= 122;
    const isCapital = code >= 65 && code <= 90;
    if ((!isLower && !isCapital) || (isCapital && wasLower)) return index;
    wasLower = isLower;
  }
}

function endOfRun(text: string, start: number, kind: number): number {
  let index = start + 1;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (KINDS[code] !== kind) break;
    index++;
  }
  return index;
}

function runTokens(kind: number, length: number): number {
  switch (kind) {
    case LETTER: {
      const more = Math.ceil(Math.max(0, length - WORD_LETTERS) / MORE_LETTERS);
      return WEIGHTS.word + more * WEIGHTS.longWord;
    }
    case DIGIT:
      return Math.ceil(length / DIGITS_PER_TOKEN) * WEIGHTS.digits;
    case BLANK:
      return length > 1 ? WEIGHTS.indent : 0;
    case PUNCTUATION:
      return WEIGHTS.punctuation + (length - 1) * WEIGHTS.morePunctuation;
    default:
      return 0;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Tokens of one non-ASCII character. */
function wideTokens(code: number): number {
  if (isHighSurrogate(code)) return WEIGHTS.astral;
  if (code >= 0xc0 && code < 0x250) return WEIGHTS.latin;
  if (code >= 0x400 && code < 0x530) return WEIGHTS.cyrillic;
  if (code >= 0x3040 && code < 0x3100) return WEIGHTS.kana;
  if (code >= 0xac00 && code < 0xd7b0) return WEIGHTS.hangul;
  const isHan = (code >= 0x3400 && code < 0xa000) || (code >= 0xf900 && code < 0xfb00);
  return isHan ? WEIGHTS.han : WEIGHTS.other;
}
