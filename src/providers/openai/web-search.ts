/** Conversion of OpenAI's own web searches in the Responses API, and of cited pages. */
import type { ResponseFunctionWebSearch } from "openai/resources/responses/responses";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import { isJsonObject } from "../common/prompt-parts.js";
import type { ModelStreamPart } from "../types.js";

/** Required in the SDK's types, but missing for failed searches and on compatible servers. */
type Action = Partial<ResponseFunctionWebSearch>["action"];

/** The parts of a finished search: the item is both the call and its result, and is sent back unchanged. */
export function searchParts(item: ResponseFunctionWebSearch, kind: ModelProviderKind): ModelStreamPart[] {
  const call = { toolCallId: item.id, toolName: "web_search", isProviderExecuted: true } as const;
  const action: Action = item.action;
  const rawAction: unknown = action;
  const own: JsonObject = {
    itemId: item.id,
    ...(isJsonObject(rawAction) ? { action: rawAction, status: item.status } : {}),
  };
  const providerMetadata = { [kind]: own };
  const result: JsonValue = { status: item.status, ...pagesOf(action) };
  return [
    { type: "tool-call", ...call, arguments: searchArguments(action), providerMetadata },
    { type: "tool-result", ...call, result, isError: item.status === "failed", providerMetadata },
  ];
}

/** A cited page; undefined when the annotation is about something else. */
export function citedPage(annotation: unknown): Extract<ModelStreamPart, { type: "source" }> | undefined {
  if (!isJsonObject(annotation) || annotation.type !== "url_citation") return undefined;
  const { url, title } = annotation;
  if (typeof url !== "string" || url === "") return undefined;
  return { type: "source", url, ...(typeof title === "string" && title !== "" ? { title } : {}) };
}

/** The pages that the search has read, cited or not. */
function pagesOf(action: Action): { sources?: string[] } {
  if (action?.type !== "search" || !action.sources?.length) return {};
  return { sources: action.sources.flatMap(({ url }) => (typeof url === "string" ? [url] : [])) };
}

function searchArguments(action: Action): JsonObject {
  switch (action?.type) {
    case "search":
      return { query: action.query ?? action.queries?.[0] ?? "" };
    case "open_page":
      return { url: action.url ?? "" };
    case "find_in_page":
      return { url: action.url, pattern: action.pattern };
    default:
      return {};
  }
}
