/** What a tool server's tool answered → how the call ended. Pure. */
import type { ToolOutcome } from "../../domain/chats/tool-outcome.js";
import type { McpCallAnswer } from "../../mcp/types.js";
import { resultFiles } from "./result-files.js";
import { resultText } from "./result-text.js";

/** Words and files both: not every model sees files. */
export function outcomeOf(answer: McpCallAnswer): ToolOutcome {
  const text = resultText(answer);
  const files = resultFiles(answer.parts).map(({ name, mediaType, bytes }) => ({ name, mediaType, bytes }));
  const given = files.length > 0 ? { files } : {};
  if (!answer.isError) return { result: text, isError: false, ...given };
  return {
    result: { error: text === "" ? "The tool failed without a word." : text },
    isError: true,
    ...given,
  };
}
