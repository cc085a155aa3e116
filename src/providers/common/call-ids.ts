/** Ids of tool calls: unique within an answer, and sanitized for each vendor. Pure except for randomness. */
import { createHash, randomUUID } from "node:crypto";

/** Limits of OpenAI's Chat Completions and of its Responses API; other vendors allow at least as much. */
export const CHAT_ID_LIMIT_CHARACTERS = 40;
const ID_LIMIT_CHARACTERS = 64;
const HASH_CHARACTERS = 16;
/**
 * Longer vendor ids are replaced; the longest real ones (hundreds, of gateways that encode state in them) are below.
 */
const MAX_VENDOR_ID_CHARACTERS = 1_024;
/** Mistral's models require exactly nine letters and digits. */
const NINE = /^[a-zA-Z0-9]{9}$/;

/** A new unique id. 37 characters, so that it fits every vendor. */
export function newCallId(): string {
  return `call_${randomUUID().replaceAll("-", "")}`;
}

/**
 * Unique ids for the calls of one answer. Some servers send none, or the same for two calls; both must run, each with
 * its own result, so the second gets a new id.
 */
export class AnswerCallIds {
  readonly #taken = new Set<string>();

  /** The id of the next call: the vendor's, unless it is unusable or taken. */
  take(vendorId: unknown): string {
    const isUsable =
      typeof vendorId === "string" && vendorId !== "" && vendorId.length <= MAX_VENDOR_ID_CHARACTERS;
    const id = isUsable && !this.#taken.has(vendorId) ? vendorId : newCallId();
    this.#taken.add(id);
    return id;
  }
}

/**
 * The id in the form that vendors accept: `[a-zA-Z0-9_-]`, 1 to `limit` characters. A valid id is unchanged; others end
 * with a hash of the whole, so that they stay distinct. Calls and results use the same function, so they keep matching.
 */
export function sanitizeToolCallId(id: string, limit: number = ID_LIMIT_CHARACTERS): string {
  if (id.length <= limit && /^[a-zA-Z0-9_-]+$/.test(id)) return id;
  const clean = id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, limit - HASH_CHARACTERS - 1);
  const hash = createHash("sha256").update(id).digest("hex").slice(0, HASH_CHARACTERS);
  return clean === "" ? `call_${hash}` : `${clean}_${hash}`;
}

/** The id in the form that Mistral's models accept; nine characters of 62 are enough to stay distinct in a chat. */
export function nineCharacterId(id: string): string {
  if (NINE.test(id)) return id;
  return createHash("sha256")
    .update(id)
    .digest("base64")
    .replace(/[^a-zA-Z0-9]/g, "")
    .slice(0, 9);
}

/** Whether a server has refused ids because Mistral's models require nine characters. */
export function requiresNineCharacterIds(error: unknown): boolean {
  return error instanceof Error && /tool call id\b.{0,400}\blength of 9\b/is.test(error.message);
}
