/** The parts of history → vendor input that all vendors share. Pure. */
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { FileReferencePart, ToolResultPart } from "../../domain/chats/message-parts.js";
import { wellFormed } from "../../domain/common/well-formed.js";

// Vendors refuse lone halves of a surrogate pair, which cut tool output may contain.
export { wellFormed };

/** `[file-reference] path:start-end` and the lines in a fence. */
export function fileReferenceText(part: FileReferencePart): string {
  const lines = part.startLine === part.endLine ? `${part.startLine}` : `${part.startLine}-${part.endLine}`;
  const header = `[file-reference] ${part.path}:${lines}`;
  if (part.content.trim() === "") return wellFormed(header);
  return wellFormed(`${header}\n${fenced(part.content)}`);
}

/** The text in a fence that no line of its own can close. */
export function fenced(text: string): string {
  let longestRun = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longestRun = Math.max(longestRun, run.length);
  const fence = "`".repeat(longestRun + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

/** The result as text: strings as they are, anything else as JSON. */
export function toolResultText(result: JsonValue): string {
  return wellFormed(typeof result === "string" ? result : JSON.stringify(result));
}

/** For vendors without a flag for failed calls: `{"error": …}`, unless the result already says so. */
export function markedToolResultText(part: ToolResultPart): string {
  if (!part.isError || isErrorObject(part.result)) return toolResultText(part.result);
  return wellFormed(JSON.stringify({ error: part.result }));
}

/** The metadata that this vendor itself attached; foreign metadata is not ours to send. */
export function ownMetadata(metadata: JsonObject | undefined, vendor: ModelProviderKind): JsonObject {
  const own = metadata?.[vendor];
  return isJsonObject(own) ? own : {};
}

/** The arguments a model wrote. Anything that is not a JSON object becomes `{}`. */
export function parseToolArguments(text: string): JsonObject {
  try {
    const parsed: JsonValue = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Whether the text is a whole JSON object, not what a limit left of one. */
export function isJsonObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isErrorObject(result: JsonValue): boolean {
  return isJsonObject(result) && "error" in result;
}
