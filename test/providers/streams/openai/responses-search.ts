/** Recorded streams of the Responses API's own web search: results, failures, opened pages and citations. */
import { FINISH_STOP, type ReplayCase, textDelta, used } from "../../replays/openai-replay.js";
import * as wire from "./responses-events.js";

const ENDED = [used({ inputTokens: 10, outputTokens: 5 }), FINISH_STOP];

/** The call and result parts of a search. */
const searched = (args: object, own: object, result: object, isError = false) => {
  const call = { toolCallId: "ws_1", toolName: "web_search", isProviderExecuted: true };
  const providerMetadata = { openai: { itemId: "ws_1", ...own } };
  return [
    { type: "tool-call", ...call, arguments: args, providerMetadata },
    { type: "tool-result", ...call, result, isError, providerMetadata },
  ] as ReplayCase["parts"];
};

const search = {
  type: "search",
  queries: ["why", "how"],
  query: "why",
  sources: [
    { type: "url", url: "https://a.example" },
    { type: "url", url: "https://b.example" },
  ],
};
const openPage = { type: "open_page", url: "https://a.example/page" };
const find = { type: "find_in_page", url: "https://a.example", pattern: "x" };
const options = { webSearch: {} };

export const RESPONSES_SEARCH_CASES: ReplayCase[] = [
  {
    name: "a search with its pages, and what the answer cites",
    options,
    chunks: [
      ...wire.webSearch({ action: search }),
      ...wire.message({
        index: 1,
        deltas: ["It is", " so."],
        annotations: [
          wire.urlCitation("https://a.example", "A"),
          wire.urlCitation("https://b.example", ""),
          wire.urlCitation("https://a.example", "A again"),
        ],
      }),
      wire.completed(),
    ],
    parts: [
      ...searched(
        { query: "why" },
        { action: search, status: "completed" },
        { status: "completed", sources: ["https://a.example", "https://b.example"] },
      ),
      textDelta("It is"),
      textDelta(" so."),
      { type: "source", url: "https://a.example", title: "A" },
      { type: "source", url: "https://b.example" },
      ...ENDED,
    ],
  },
  {
    name: "a search that failed",
    options,
    chunks: [
      ...wire.webSearch({ status: "failed" }),
      ...wire.message({ index: 1, deltas: ["No."] }),
      wire.completed(),
    ],
    parts: [...searched({}, {}, { status: "failed" }, true), textDelta("No."), ...ENDED],
  },
  {
    name: "a page that was opened",
    options,
    chunks: [...wire.webSearch({ action: openPage }), wire.completed()],
    parts: [
      ...searched({ url: openPage.url }, { action: openPage, status: "completed" }, { status: "completed" }),
      ...ENDED,
    ],
  },
  {
    name: "words that were looked for in a page",
    options,
    chunks: [...wire.webSearch({ action: find }), wire.completed()],
    parts: [
      ...searched(
        { url: find.url, pattern: "x" },
        { action: find, status: "completed" },
        { status: "completed" },
      ),
      ...ENDED,
    ],
  },
  {
    name: "citations of files, which are no pages",
    chunks: [
      ...wire.message({
        deltas: ["a"],
        annotations: [
          { type: "file_citation", file_id: "file_1", filename: "x.pdf", index: 0 },
          { type: "url_citation", url: 7 },
        ],
      }),
      wire.completed(),
    ],
    parts: [textDelta("a"), ...ENDED],
  },
];
