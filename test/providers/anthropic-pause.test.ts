/** Answers that Anthropic pauses during its own searches: one answer to callers, several requests to the vendor. */
import { describe, expect, test } from "vitest";
import { CONTINUATION_LIMIT } from "../../src/providers/anthropic/continuation.js";
import type { JsonObject } from "../../src/domain/common/json.js";
import type { ModelRequest } from "../../src/providers/types.js";
import { replayAll } from "./replays/replay.js";
import { CUT } from "./replays/replay-server.js";
import {
  because,
  block,
  ended,
  over,
  textDelta,
  signature,
  start,
  stop,
  text,
  textBlock,
  thought,
  used,
  words,
} from "./streams/anthropic/events.js";
import { frame } from "./streams/anthropic/framing.js";
import { answered, call, called, citation, cited, found, page, source } from "./streams/anthropic/search.js";
import { REQUEST } from "./support.js";

const SEARCHING: ModelRequest = { ...REQUEST, options: { webSearch: {}, promptCaching: "off" } };
const paused: JsonObject[] = [because("pause_turn"), over];
const play = (answers: (JsonObject | typeof CUT)[][], request = SEARCHING) =>
  replayAll(
    "anthropic",
    answers.map((events) => events.map((event) => (event === CUT ? CUT : frame(event as JsonObject)))),
    { request },
  );
const QUESTION = { role: "user", content: [{ type: "text", text: "hello" }] };

test("a paused answer is continued, and becomes one answer with all its tokens", async () => {
  const first = [
    start({ input_tokens: 9, output_tokens: 1, cache_read_input_tokens: 3 }),
    block(0, { type: "thinking", thinking: "", signature: "" }),
    thought(0, "h"),
    thought(0, "m"),
    signature(0, "sig=="),
    stop(0),
    ...text(1, "\n\n"),
    ...text(2, "I look."),
    ...call(3, "srvtoolu_1"),
    ...found(4, "srvtoolu_1", [page("a")]),
    textBlock(5),
    words(5, "It is"),
    stop(5),
    ...call(6, "srvtoolu_2"),
    ...paused,
  ];
  const second = [
    start(),
    ...found(0, "srvtoolu_2", [page("b")]),
    textBlock(1),
    words(1, "so"),
    { type: "content_block_delta", index: 1, delta: { type: "citations_delta", citation: citation("b") } },
    stop(1),
    ...ended,
  ];
  const { parts, failure, requests } = await play([first, second]);
  expect(failure).toBeUndefined();
  expect(parts).toEqual([
    used(9, 1, { cacheReadTokens: 3 }),
    { type: "reasoning-delta", text: "h" },
    { type: "reasoning-delta", text: "m" },
    { type: "reasoning-end", providerMetadata: { anthropic: { signature: "sig==" } } },
    textDelta("\n\n"),
    textDelta("I look."),
    called("srvtoolu_1"),
    answered("srvtoolu_1", [page("a")]),
    textDelta("It is"),
    called("srvtoolu_2"),
    used(9, 5, { cacheReadTokens: 3 }),
    used(18, 6, { cacheReadTokens: 3 }),
    answered("srvtoolu_2", [page("b")]),
    textDelta("so"),
    used(18, 10, { cacheReadTokens: 3 }),
    cited([0, 2, citation("b")]),
    source("b"),
    { type: "finish", reason: "stop" },
  ]);
  expect(requests.map(({ body }) => body.messages)).toEqual([
    [QUESTION],
    [
      QUESTION,
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "sig==" },
          { type: "text", text: "I look." },
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "why" } },
          { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [page("a")] },
          { type: "text", text: "It is" },
          { type: "server_tool_use", id: "srvtoolu_2", name: "web_search", input: { query: "why" } },
        ],
      },
    ],
  ]);
  expect({ ...requests[1]?.body, messages: [] }).toEqual({ ...requests[0]?.body, messages: [] });
});

test("citations keep their places in a text that a pause interrupts", async () => {
  const { parts } = await play([
    [start(), ...text(0, "plain "), ...paused],
    [
      start(),
      textBlock(0),
      words(0, "cited"),
      { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: citation("a") } },
      stop(0),
      ...ended,
    ],
  ]);
  expect(parts.find(({ type }) => type === "text-end")).toEqual(cited([6, 11, citation("a")]));
});

test("what has been cited before the pause goes back cited", async () => {
  const { requests } = await play([
    [start(), block(0, { type: "text", text: "so", citations: [citation("a")] }), stop(0), ...paused],
    [start(), ...ended],
  ]);
  expect(requests[1]?.body.messages).toEqual([
    QUESTION,
    { role: "assistant", content: [{ type: "text", text: "so", citations: [citation("a")] }] },
  ]);
});

test("an answer that pauses forever ends eventually, with all its content, in one growing message", async () => {
  const { parts, requests } = await play([[start(), ...text(0, "more "), ...paused]]);
  expect(requests).toHaveLength(CONTINUATION_LIMIT + 1);
  const last = requests.at(-1)?.body.messages as JsonObject[];
  expect(last).toEqual([
    QUESTION,
    { role: "assistant", content: Array(CONTINUATION_LIMIT).fill({ type: "text", text: "more " }) },
  ]);
  expect(parts.filter(({ type }) => type === "text-delta")).toHaveLength(CONTINUATION_LIMIT + 1);
  expect(parts.at(-1)).toEqual({ type: "finish", reason: "other" });
});

test("a pause without any content is not continued", async () => {
  const { parts, requests } = await play([[start(), ...paused]]);
  expect(requests).toHaveLength(1);
  expect(parts.at(-1)).toEqual({ type: "finish", reason: "other" });
});

test("without tools of the vendor's own a pause is the end", async () => {
  const { parts, requests } = await play([[start(), ...text(0, "a"), ...paused]], REQUEST);
  expect(requests).toHaveLength(1);
  expect(parts.at(-1)).toEqual({ type: "finish", reason: "other" });
});

describe("an answer that breaks after its pause is a failure", () => {
  const first = [start(), ...text(0, "a"), ...paused];
  test.each([
    ["at once", [CUT], { kind: "timeout", isRetryable: true }],
    ["without a word", [], { kind: "timeout", isRetryable: true }],
    ["in the middle", [start(), textBlock(0), words(0, "b")], { kind: "timeout", isRetryable: true }],
    [
      "as the vendor says",
      [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
      { kind: "overloaded", isRetryable: true },
    ],
  ] as [string, (JsonObject | typeof CUT)[], object][])("%s", async (_, second, failure) => {
    const seen = await play([first, second]);
    expect(seen.failure).toMatchObject(failure);
    expect(seen.parts.at(1)).toEqual(textDelta("a"));
  });
});
