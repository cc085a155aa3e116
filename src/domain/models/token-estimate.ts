/**
 * How many tokens a text has, guessed by its characters: for vendors that report no usage. Pure, and cheap enough for a
 * whole prompt (a million characters take about 20 ms). How near it comes is in docs/costs.md and beside this file in the test.
 */
import type { MessagePart, StoredFile } from "../chats/message-parts.js";

/**
 * Tokens per unit of text. Fitted by least squares of the relative error against o200k_base (OpenAI) and Llama 3's
 * tokeniser, on prose, source code, JSON, logs and translated software messages in 14 languages.
 */
const WEIGHTS = {
  /** A run of ASCII letters up to `WORD_LETTERS` long; an inner capital begins another. */
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
/** Letters beside digits are identifiers, hashes and base64, of which tokenisers know no words. */
const LETTERS_PER_TOKEN_IN_CODES = 2;
const DIGITS_PER_TOKEN = 3;

/** A picture as large as vendors take without shrinking it: Claude's formula (width × height / 750) gives about this. */
const IMAGE_TOKENS = 1_500;
/** A page of a PDF has about this many tokens and, scanned or set, about that many bytes. */
const DOCUMENT_PAGE_TOKENS = 2_000;
const DOCUMENT_PAGE_BYTES = 50_000;
const TEXT_BYTES_PER_TOKEN = 4;
/** Role, separators and, for tools, the names of the fields around what is said. */
export const OVERHEAD_TOKENS_PER_MESSAGE = 4;

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

/** What a message of these parts adds to a prompt; notices, which models never see, add nothing. */
export function estimateMessageTokens(parts: readonly MessagePart[]): number {
  return parts.reduce((sum, part) => sum + partTokens(part), OVERHEAD_TOKENS_PER_MESSAGE);
}

/** What a model has written: its words, its thoughts (`reasoning`, which are part of `output`) and its calls. */
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
      const words = typeof part.result === "string" ? part.result : JSON.stringify(part.result);
      const files = part.files ?? [];
      return files.reduce(
        (sum, file) => sum + fileTokens(file),
        OVERHEAD_TOKENS_PER_MESSAGE + estimateTokens(words),
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

/** Kinds of ASCII characters; numbers, since each character of a prompt is looked up. */
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

/** Beyond either end of the text there is none. */
function isDigitAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 48 && code <= 57;
}

/** A capital behind a small letter begins another word, as in camelCase. */
function endOfWord(text: string, start: number): number {
  let wasSmall = false;
  for (let index = start; ; index++) {
    const code = text.charCodeAt(index);
    const isSmall = code >= 97 && code <= 122;
    const isCapital = code >= 65 && code <= 90;
    if ((!isSmall && !isCapital) || (isCapital && wasSmall)) return index;
    wasSmall = isSmall;
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

/** Of one character that is not ASCII. */
function wideTokens(code: number): number {
  if (isHighSurrogate(code)) return WEIGHTS.astral;
  if (code >= 0xc0 && code < 0x250) return WEIGHTS.latin;
  if (code >= 0x400 && code < 0x530) return WEIGHTS.cyrillic;
  if (code >= 0x3040 && code < 0x3100) return WEIGHTS.kana;
  if (code >= 0xac00 && code < 0xd7b0) return WEIGHTS.hangul;
  const isHan = (code >= 0x3400 && code < 0xa000) || (code >= 0xf900 && code < 0xfb00);
  return isHan ? WEIGHTS.han : WEIGHTS.other;
}
