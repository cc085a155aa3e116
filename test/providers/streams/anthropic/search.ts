/** Web searches, their results and errors, and citations in the text after them. */
import type { JsonObject } from "../../../../src/domain/common/json.js";
import type { ModelStreamPart } from "../../../../src/providers/types.js";
import {
  block,
  cite,
  ended,
  finished,
  input,
  textDelta,
  start,
  stop,
  type StreamCase,
  text,
  textBlock,
  used,
  words,
} from "./events.js";

export const page = (name: string) => ({
  type: "web_search_result",
  url: `https://example.com/${name}`,
  title: name.toUpperCase(),
  encrypted_content: `content-${name}==`,
  page_age: name === "a" ? "2 days ago" : null,
});
export const citation = (name: string, words = "quoted") => ({
  type: "web_search_result_location",
  url: `https://example.com/${name}`,
  title: name.toUpperCase(),
  cited_text: words,
  encrypted_index: `index-${name}==`,
});
export const call = (index: number, id: string, more: JsonObject = {}) => [
  block(index, { type: "server_tool_use", id, name: "web_search", input: {}, ...more }),
  input(index, '{"query":'),
  input(index, '"why"}'),
  stop(index),
];
export const found = (index: number, tool_use_id: string, content: JsonObject[] | JsonObject, more = {}) => [
  block(index, { type: "web_search_tool_result", tool_use_id, content, ...more }),
  stop(index),
];
export const called = (toolCallId: string, providerMetadata?: JsonObject): ModelStreamPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "web_search",
  arguments: { query: "why" },
  isProviderExecuted: true,
  ...(providerMetadata ? { providerMetadata } : {}),
});
export const answered = (
  toolCallId: string,
  content: JsonObject[],
  more: JsonObject = {},
): ModelStreamPart => ({
  type: "tool-result",
  toolCallId,
  toolName: "web_search",
  result: content.map(({ url, title, page_age }) => ({
    url: url ?? "",
    title: title ?? "",
    ...(page_age ? { pageAge: page_age } : {}),
  })),
  isError: false,
  isProviderExecuted: true,
  providerMetadata: { anthropic: { ...more, content } },
});
export const source = (name: string): ModelStreamPart => ({
  type: "source",
  url: `https://example.com/${name}`,
  title: name.toUpperCase(),
});
export const cited = (...stretches: [number, number, ...JsonObject[]][]): ModelStreamPart => ({
  type: "text-end",
  providerMetadata: {
    anthropic: { cited: stretches.map(([from, to, ...citations]) => ({ start: from, end: to, citations })) },
  },
});

export const SEARCH_CASES: StreamCase[] = [
  {
    name: "a search, what it found, and words that cite it",
    events: [
      start(),
      ...text(0, "I look."),
      ...call(1, "srvtoolu_1"),
      ...found(2, "srvtoolu_1", [page("a"), page("b")]),
      ...text(3, "They say "),
      textBlock(4),
      words(4, "it is "),
      words(4, "so"),
      cite(4, citation("a")),
      cite(4, citation("b")),
      stop(4),
      ...text(5, "."),
      ...ended,
    ],
    parts: [
      used(),
      textDelta("I look."),
      called("srvtoolu_1"),
      answered("srvtoolu_1", [page("a"), page("b")]),
      textDelta("They say "),
      textDelta("it is "),
      textDelta("so"),
      textDelta("."),
      used(9, 5),
      cited([9, 17, citation("a"), citation("b")]),
      source("a"),
      source("b"),
      { type: "finish", reason: "stop" },
    ],
  },
  {
    name: "a search that fails",
    events: [
      start(),
      ...call(0, "srvtoolu_1"),
      ...found(1, "srvtoolu_1", { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" }),
      ...text(2, "sorry"),
      ...ended,
    ],
    parts: [
      used(),
      called("srvtoolu_1"),
      {
        type: "tool-result",
        toolCallId: "srvtoolu_1",
        toolName: "web_search",
        result: { error: "max_uses_exceeded" },
        isError: true,
        isProviderExecuted: true,
        providerMetadata: {
          anthropic: { content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" } },
        },
      },
      textDelta("sorry"),
      ...finished(),
    ],
  },
  {
    name: "a search that finds nothing",
    events: [start(), ...call(0, "srvtoolu_1"), ...found(1, "srvtoolu_1", []), ...ended],
    parts: [used(), called("srvtoolu_1"), answered("srvtoolu_1", []), ...finished()],
  },
  {
    name: "two searches whose texts cite the same page: one source in a message",
    events: [
      start(),
      ...call(0, "srvtoolu_1"),
      ...found(1, "srvtoolu_1", [page("a")]),
      textBlock(2),
      cite(2, citation("a")),
      words(2, "one"),
      stop(2),
      ...call(3, "srvtoolu_2"),
      ...found(4, "srvtoolu_2", [page("a")]),
      textBlock(5),
      words(5, "two"),
      cite(5, citation("a", "again")),
      stop(5),
      ...ended,
    ],
    parts: [
      used(),
      called("srvtoolu_1"),
      answered("srvtoolu_1", [page("a")]),
      textDelta("one"),
      cited([0, 3, citation("a")]),
      source("a"),
      called("srvtoolu_2"),
      answered("srvtoolu_2", [page("a")]),
      textDelta("two"),
      used(9, 5),
      cited([0, 3, citation("a", "again")]),
      { type: "finish", reason: "stop" },
    ],
  },
  {
    name: "citations that come with the start of the block, and neighbours with their own",
    events: [
      start(),
      block(0, { type: "text", text: "ab", citations: [citation("a")] }),
      stop(0),
      block(1, { type: "text", text: "c", citations: null }),
      stop(1),
      block(2, { type: "text", text: "", citations: [] }),
      words(2, "🌍"),
      cite(2, { ...citation("b"), title: null }),
      stop(2),
      ...ended,
    ],
    parts: [
      used(),
      textDelta("ab"),
      textDelta("c"),
      textDelta("🌍"),
      used(9, 5),
      cited([0, 2, citation("a")], [3, 5, { ...citation("b"), title: null }]),
      source("a"),
      { type: "source", url: "https://example.com/b" },
      { type: "finish", reason: "stop" },
    ],
  },
  {
    name: "a citation without words is only a source",
    events: [start(), textBlock(0), cite(0, citation("a")), stop(0), ...ended],
    parts: [used(), used(9, 5), source("a"), { type: "finish", reason: "stop" }],
  },
  {
    name: "a citation of a document goes back, but is no page",
    events: [
      start(),
      textBlock(0),
      words(0, "so"),
      cite(0, { type: "page_location", cited_text: "so", document_index: 0, start_page_number: 1 }),
      stop(0),
      ...ended,
    ],
    parts: [
      used(),
      textDelta("so"),
      used(9, 5),
      cited([0, 2, { type: "page_location", cited_text: "so", document_index: 0, start_page_number: 1 }]),
      { type: "finish", reason: "stop" },
    ],
  },
  {
    name: "who called the search goes back, too",
    events: [
      start(),
      ...call(0, "srvtoolu_1", { caller: { type: "direct" } }),
      ...found(1, "srvtoolu_1", [page("b")], { caller: { type: "direct" } }),
      ...ended,
    ],
    parts: [
      used(),
      called("srvtoolu_1", { anthropic: { caller: { type: "direct" } } }),
      answered("srvtoolu_1", [page("b")], { caller: { type: "direct" } }),
      ...finished(),
    ],
  },
];
