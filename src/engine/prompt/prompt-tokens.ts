/** Estimate of a prompt's tokens from its text. Pure. */
import type { ModelRequest } from "../../providers/types.js";

/**
 * English and code have four bytes per token in the tokenizers of all large vendors, Chinese and Japanese about three.
 * An estimate that is too high requests a little less output, one that is too low costs a refusal.
 */
const BYTES_PER_TOKEN = 3;
/** Vendors count images by their area, in this order of magnitude; a long document has more, which a refusal reveals. */
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
