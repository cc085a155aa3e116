/** How many tokens a prompt has, guessed from its text. Pure. */
import type { ModelRequest } from "../../providers/types.js";

/**
 * English and code have four bytes to a token in the tokenisers of all large vendors, Chinese and Japanese about three;
 * a guess that is too high asks for a little less output, one that is too low costs a refusal.
 */
const BYTES_PER_TOKEN = 3;
/** Vendors count pictures by their area, in the order of this; a long document has more, which its refusal then says. */
const TOKENS_PER_FILE = 1_600;

export function promptTokens({
  system,
  messages,
  tools,
  files,
}: Pick<ModelRequest, "system" | "messages" | "tools" | "files">): number {
  const bytes = Buffer.byteLength(JSON.stringify([system, messages, tools]));
  return Math.ceil(bytes / BYTES_PER_TOKEN) + (files?.size ?? 0) * TOKENS_PER_FILE;
}
