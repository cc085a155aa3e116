/** Ids of tool calls: each answer's are made to differ, and history's are made to fit the vendor. Pure but for chance. */
import { createHash, randomUUID } from "node:crypto";

/** OpenAI's Chat Completions refuses longer ids, its Responses API those above 64; no vendor wants more. */
export const CHAT_ID_LIMIT_CHARACTERS = 40;
export const ID_LIMIT_CHARACTERS = 64;
const HASH_CHARACTERS = 16;
/** An id from a vendor that is longer than any vendor's (hundreds, for gateways that hide state in it) is not kept. */
const KEPT_ID_LIMIT_CHARACTERS = 1_024;
/** What Mistral's models take: just so many letters and digits. */
const NINE = /^[a-zA-Z0-9]{9}$/;

/** An id of our own, which differs from all others. 37 characters, so that it fits every vendor. */
export function newCallId(): string {
  return `call_${randomUUID().replaceAll("-", "")}`;
}

/**
 * The ids of one answer. Some servers give none, or the same to two calls; both must run, each with a result of its own,
 * so the second gets an id of ours.
 */
export class AnswerCallIds {
  readonly #taken = new Set<string>();

  /** For the call that begins now, by the id that the vendor gave it. */
  take(given: unknown): string {
    const isUsable = typeof given === "string" && given !== "" && given.length <= KEPT_ID_LIMIT_CHARACTERS;
    const id = isUsable && !this.#taken.has(given) ? given : newCallId();
    this.#taken.add(id);
    return id;
  }
}

/**
 * The id as a vendor takes it: `[a-zA-Z0-9_-]`, 1 to `limit` characters. An id that fits stays; another one ends in a
 * hash of the whole, so that two that look alike stay apart. Calls and results go through the same function, so they
 * keep matching.
 */
export function sanitizeToolCallId(id: string, limit: number = ID_LIMIT_CHARACTERS): string {
  if (id.length <= limit && /^[a-zA-Z0-9_-]+$/.test(id)) return id;
  const clean = id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, limit - HASH_CHARACTERS - 1);
  const hash = createHash("sha256").update(id).digest("hex").slice(0, HASH_CHARACTERS);
  return clean === "" ? `call_${hash}` : `${clean}_${hash}`;
}

/** The id as Mistral's models take it; nine characters of 62 keep a chat's calls apart. */
export function nineCharacterId(id: string): string {
  if (NINE.test(id)) return id;
  return createHash("sha256")
    .update(id)
    .digest("base64")
    .replace(/[^a-zA-Z0-9]/g, "")
    .slice(0, 9);
}

/** Whether a server has refused ids because they are not as Mistral's models want them. */
export function requiresNineCharacterIds(error: unknown): boolean {
  return error instanceof Error && /tool call id\b.{0,400}\blength of 9\b/is.test(error.message);
}
