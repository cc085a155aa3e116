/** Upper bound of the tokens that one model call can use, computed before it is made. Pure. */
import { DEFAULT_MAX_OUTPUT_TOKENS } from "../../domain/common/limits.js";
import type { MaxUsage } from "../../domain/usage/usage-limits.js";
import type { ModelRequest } from "../../providers/types.js";

/** Small images have fewer bytes than tokens: vendors count their area, or tiles. */
const MIN_FILE_TOKENS = 10_000;

/**
 * No vendor's token is shorter than a byte, so a text has at most as many tokens as bytes; and never more than fit into
 * the model. `contextLimit` in tokens; null = unknown.
 */
export function greatestUse(request: ModelRequest, contextLimit: number | null): MaxUsage {
  const { system, messages, tools, files, maxOutputTokens } = request;
  const textTokens = Buffer.byteLength(JSON.stringify([system, messages, tools]));
  const fileTokens = [...(files?.values() ?? [])].reduce(
    (sum, bytes) => sum + Math.max(bytes.byteLength, MIN_FILE_TOKENS),
    0,
  );
  return {
    inputTokens: Math.min(textTokens + fileTokens, contextLimit ?? Number.MAX_SAFE_INTEGER),
    outputTokens: maxOutputTokens ?? contextLimit ?? DEFAULT_MAX_OUTPUT_TOKENS,
  };
}
