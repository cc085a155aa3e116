/** Conversion of history to vendor input, as far as all vendors share it. Pure. */
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { FileReferencePart, ToolResultPart } from "../../domain/chats/message-parts.js";
import { wellFormed } from "../../domain/common/well-formed.js";

// Vendors refuse lone surrogates, which truncated tool output may contain.
export { wellFormed };

/** `[file-reference] path:start-end` and the lines in a fence. */
export function fileReferenceText(part: FileReferencePart): string {
  const lines = part.startLine === part.endLine ? `${part.startLine}` : `${part.startLine}-${part.endLine}`;
  const header = `[file-reference] ${part.path}:${lines}`;
  if (part.content.trim() === "") return wellFormed(header);
  return wellFormed(`${header}\n${fenced(part.content)}`);
}

/** The text in a code fence that is longer than any in it. */
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

/** For vendors without a flag for failed calls: `{"error": …}`, unless the result has an `error` already. */
export function markedToolResultText(part: ToolResultPart): string {
  if (!part.isError || isErrorObject(part.result)) return toolResultText(part.result);
  return wellFormed(JSON.stringify({ error: part.result }));
}

/** The metadata that this vendor attached; other vendors' metadata is never sent. */
export function ownMetadata(metadata: JsonObject | undefined, vendor: ModelProviderKind): JsonObject {
  const own = metadata?.[vendor];
  return isJsonObject(own) ? own : {};
}

/** A model's tool arguments. Anything that is not a JSON object becomes `{}`. */
export function parseToolArguments(text: string): JsonObject {
  try {
    const parsed: JsonValue = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Whether the text is a complete JSON object, not one that a limit has cut. */
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
