/** Plain answers: start, end, usage, and events to ignore. */
import {
  because,
  block,
  delta,
  ended,
  finished,
  over,
  ping,
  textDelta,
  start,
  stop,
  type StreamCase,
  text,
  textBlock,
  used,
  words,
} from "./events.js";

const LONG = "wörter 🌍 ".repeat(100_000);

export const TEXT_CASES: StreamCase[] = [
  {
    name: "words, with pings between them",
    events: [start(), ping, textBlock(0), words(0, "Hel"), ping, words(0, "lo"), stop(0), ...ended],
    parts: [used(), textDelta("Hel"), textDelta("lo"), ...finished()],
  },
  { name: "an answer without any content", events: [start(), ...ended], parts: [used(), ...finished()] },
  {
    name: "an empty block of text",
    events: [start(), textBlock(0), words(0, ""), stop(0), ...ended],
    parts: [used(), ...finished()],
  },
  {
    name: "two blocks of text in a row",
    events: [start(), ...text(0, "a"), ...text(1, "b"), ...ended],
    parts: [used(), textDelta("a"), textDelta("b"), ...finished()],
  },
  {
    name: "a gateway that sends the words with the start of the block",
    events: [start(), block(0, { type: "text", text: "whole" }), stop(0), ...ended],
    parts: [used(), textDelta("whole"), ...finished()],
  },
  {
    name: "a configured stop sequence",
    events: [start(), ...text(0, "a"), because("stop_sequence"), over],
    parts: [used(), textDelta("a"), ...finished()],
  },
  {
    name: "the limit of output tokens",
    events: [start(), ...text(0, "a"), because("max_tokens"), over],
    parts: [used(), textDelta("a"), ...finished("length")],
  },
  {
    name: "a full context window",
    events: [start(), ...text(0, "a"), because("model_context_window_exceeded"), over],
    parts: [used(), textDelta("a"), ...finished("length")],
  },
  {
    name: "a refusal with its details",
    events: [
      start(),
      {
        type: "message_delta",
        delta: {
          stop_reason: "refusal",
          stop_details: { type: "refusal", category: "cyber", explanation: null },
        },
        usage: { output_tokens: 5 },
      },
      over,
    ],
    parts: [used(), ...finished("content-filter")],
  },
  {
    name: "a reason to stop that is newer than this",
    events: [start(), ...text(0, "a"), because("coffee_break"), over],
    parts: [used(), textDelta("a"), ...finished("other")],
  },
  {
    name: "a pause without a search",
    events: [start(), ...text(0, "a"), because("pause_turn"), over],
    parts: [used(), textDelta("a"), ...finished("other")],
  },
  {
    name: "events, blocks and deltas of unknown types",
    events: [
      { type: "mystery", index: 0 },
      start(),
      block(0, { type: "container_upload", file_id: "file_1" }),
      delta(0, { type: "mystery_delta", text: "no" }),
      stop(0),
      textBlock(1),
      delta(1, { type: "mystery_delta", text: "no" }),
      words(1, "yes"),
      stop(1),
      { type: "mystery", index: 0 },
      ...ended,
    ],
    parts: [used(), textDelta("yes"), ...finished()],
  },
  {
    name: "one very long delta",
    events: [start(), ...text(0, LONG), ...ended],
    parts: [used(), textDelta(LONG), ...finished()],
  },
  {
    name: "everything that may come twice",
    events: [start(), textBlock(0), words(0, "a"), stop(0), stop(0), because("end_turn"), ...ended, over],
    parts: [used(), textDelta("a"), used(9, 5), ...finished()],
  },
  {
    name: "a gateway that forgets the last event",
    events: [start(), ...text(0, "a"), because("end_turn")],
    parts: [used(), textDelta("a"), ...finished()],
  },
  {
    name: "words for a block that never began",
    events: [start(), words(7, "lost"), ...text(0, "a"), ...ended],
    parts: [used(), textDelta("a"), ...finished()],
  },
  {
    name: "a character in two halves",
    events: [start(), ...text(0, "\ud83c", "\udf0d"), ...ended],
    parts: [used(), textDelta("\ud83c"), textDelta("\udf0d"), ...finished()],
  },
];

export const USAGE_CASES: StreamCase[] = [
  {
    name: "tokens of all kinds, at the start and at the end",
    events: [
      start({
        input_tokens: 9,
        output_tokens: 1,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 50,
        cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 0 },
        service_tier: "standard",
      }),
      because("end_turn", { output_tokens: 5, output_tokens_details: { thinking_tokens: 3 } }),
      over,
    ],
    parts: [
      used(9, 1, { cacheReadTokens: 100, cacheWriteTokens: 50 }),
      used(9, 5, { cacheReadTokens: 100, cacheWriteTokens: 50, reasoningTokens: 3 }),
      { type: "finish", reason: "stop" },
    ],
  },
  {
    name: "tokens only at the end",
    events: [start(undefined), because("end_turn", { input_tokens: 7, output_tokens: 5 }), over],
    parts: [used(), used(7, 5), { type: "finish", reason: "stop" }],
  },
  {
    name: "no tokens at the start, null at the end",
    events: [start(null), because("end_turn", null), over],
    parts: [used(null, null), used(null, null), { type: "finish", reason: "stop" }],
  },
  {
    name: "tokens that are null do not forget what was known",
    events: [
      start({
        input_tokens: 9,
        output_tokens: 1,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: null,
      }),
      because("end_turn", {
        input_tokens: null,
        output_tokens: 0,
        cache_read_input_tokens: null,
        server_tool_use: null,
      }),
      over,
    ],
    parts: [
      used(9, 1, { cacheReadTokens: 4 }),
      used(9, 0, { cacheReadTokens: 4 }),
      { type: "finish", reason: "stop" },
    ],
  },
  {
    name: "tokens in the middle, before the reason to stop",
    events: [start(), because(null, { output_tokens: 2 }), ...text(0, "a"), ...ended],
    parts: [used(), used(9, 2), textDelta("a"), ...finished()],
  },
  {
    name: "more input tokens at the end, after searches",
    events: [start(), because("end_turn", { input_tokens: 900, output_tokens: 5 }), over],
    parts: [used(), used(900, 5), { type: "finish", reason: "stop" }],
  },
];
