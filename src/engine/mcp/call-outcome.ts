/** Conversion of an MCP tool's response to a tool outcome. Pure. */
import type { ToolOutcome } from "../../domain/chats/tool-outcome.js";
import type { McpCallAnswer } from "../../mcp/types.js";
import { resultFiles } from "./result-files.js";
import { resultText } from "./result-text.js";

/** The text describes the files too: not every model sees files. */
export function outcomeOf(answer: McpCallAnswer): ToolOutcome {
  const text = resultText(answer);
  const files = resultFiles(answer.parts).map(({ name, mediaType, bytes }) => ({ name, mediaType, bytes }));
  const withFiles = files.length > 0 ? { files } : {};
  if (!answer.isError) return { result: text, isError: false, ...withFiles };
  return {
    result: { error: text === "" ? "The tool failed without a message." : text },
    isError: true,
    ...withFiles,
  };
}
