/** How many tokens one model call can use at most, told before it is made. Pure. */
import { DEFAULT_MAX_OUTPUT_TOKENS } from "../../domain/common/limits.js";
import type { MaxUsage } from "../../domain/usage/usage-limits.js";
import type { ModelRequest } from "../../providers/types.js";

/** Small pictures have fewer bytes than tokens: vendors count their area, or in tiles. */
const LEAST_FILE_TOKENS = 10_000;

/**
 * No vendor's tokens are shorter than a byte, so a text's bytes are at least as many as its tokens; and no more tokens
 * are taken than fit into the model. `contextLimit` in tokens; null = unknown.
 */
export function greatestUse(request: ModelRequest, contextLimit: number | null): MaxUsage {
  const { system, messages, tools, files, maxOutputTokens } = request;
  const words = Buffer.byteLength(JSON.stringify([system, messages, tools]));
  const pictures = [...(files?.values() ?? [])].reduce(
    (sum, bytes) => sum + Math.max(bytes.byteLength, LEAST_FILE_TOKENS),
    0,
  );
  return {
    inputTokens: Math.min(words + pictures, contextLimit ?? Number.MAX_SAFE_INTEGER),
    outputTokens: maxOutputTokens ?? contextLimit ?? DEFAULT_MAX_OUTPUT_TOKENS,
  };
}
