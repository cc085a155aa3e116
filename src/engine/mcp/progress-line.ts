/** News of a tool call that goes on, as a line for those who watch. Pure. */
import type { McpProgress } from "../../mcp/types.js";

const MAX_CHARACTERS = 200;

/** One short line with its end. */
export function progressLine({ progress, total, message }: McpProgress): string {
  const place = total === undefined ? `${progress}` : `${progress} of ${total}`;
  const words = (message ?? "").replace(/\s+/g, " ").trim();
  const line = words === "" ? place : `${place}: ${words}`;
  return `${line.slice(0, MAX_CHARACTERS)}\n`;
}
