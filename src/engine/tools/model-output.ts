/** Formats a process's output for the model, bounded in size. Pure. */
import { cutText, suffixStart } from "../../lib/text/utf8.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { ProcessOutput } from "../../workspaces/agent-client/agent-connection.js";

const MAX_OUTPUT_BYTES = 32 * 1024;
/** For the agent's own line about omitted output. */
const MARKER_ALLOWANCE_BYTES = 256;
const SHORTENED_MARKER = "\n\n... [output shortened] ...\n\n";

/** Keeps the beginning and the end of output that is still too long (bytes that are not text triple in size). */
export function shortenOutput(output: string): string {
  if (Buffer.byteLength(output) <= MAX_OUTPUT_BYTES + MARKER_ALLOWANCE_BYTES) return output;
  const bytes = Buffer.from(output);
  const halfBytes = MAX_OUTPUT_BYTES / 2;
  const end = bytes.subarray(suffixStart(bytes, bytes.length - halfBytes)).toString("utf8");
  return `${cutText(output, halfBytes)}${SHORTENED_MARKER}${end}`;
}

/** `output` and `truncated`, each only when not empty. */
export function outputFields({ output, truncation }: ProcessOutput): JsonObject {
  return {
    ...(output !== "" && { output: shortenOutput(output) }),
    ...(truncation !== undefined && {
      truncated: {
        original_bytes: truncation.originalBytes,
        retained_bytes: truncation.retainedBytes,
        omitted_bytes: truncation.omittedBytes,
        strategy: truncation.strategy,
      },
    }),
  };
}

/** The result of a process that has ended. */
export function exitFields(output: ProcessOutput): JsonObject {
  const exitCode = output.exitCode ?? -1;
  return {
    success: exitCode === 0,
    ...outputFields(output),
    exit_code: exitCode,
    ...(output.signal !== undefined && { error: `ended by ${output.signal}` }),
  };
}
