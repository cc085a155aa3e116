/** Progress of a running MCP tool call, as one line of live output. Pure. */
import type { McpProgress } from "../../mcp/types.js";

const MAX_CHARACTERS = 200;

/** Ends with a line break. */
export function progressLine({ progress, total, message }: McpProgress): string {
  const count = total === undefined ? `${progress}` : `${progress} of ${total}`;
  const text = (message ?? "").replace(/\s+/g, " ").trim();
  const line = text === "" ? count : `${count}: ${text}`;
  return `${line.slice(0, MAX_CHARACTERS)}\n`;
}
