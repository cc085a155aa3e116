/** OpenAI's own web search in the Responses API → our parts, and the pages that answers cite. */
import type { ResponseFunctionWebSearch } from "openai/resources/responses/responses";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import { isJsonObject } from "../common/prompt-parts.js";
import type { ModelStreamPart } from "../types.js";

/** The SDK's types promise an action; failed searches and compatible servers have none. */
type Action = Partial<ResponseFunctionWebSearch>["action"];

/** A finished search: the item is both the call and its result, and goes back as it came. */
export function searchParts(item: ResponseFunctionWebSearch, kind: ModelProviderKind): ModelStreamPart[] {
  const call = { toolCallId: item.id, toolName: "web_search", isProviderExecuted: true } as const;
  const action: Action = item.action;
  const given: unknown = action;
  const own: JsonObject = {
    itemId: item.id,
    ...(isJsonObject(given) ? { action: given, status: item.status } : {}),
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

/** The pages the search looked at, cited or not. */
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
