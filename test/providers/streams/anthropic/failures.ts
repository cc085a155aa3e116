/** Streams that break, with an error event or without. */
import type { JsonObject } from "../../../../src/domain/common/json.js";
import { CUT } from "../../replays/replay-server.js";
import {
  input,
  block,
  textDelta,
  start,
  type StreamCase,
  text,
  textBlock,
  toolInput,
  used,
  words,
} from "./events.js";

const failed = (type: string, message: string): JsonObject => ({ type: "error", error: { type, message } });
const BROKEN = [start(), textBlock(0), words(0, "a")];
const SEEN = [used(), textDelta("a")];

export const FAILURE_CASES: StreamCase[] = [
  {
    name: "an overloaded vendor in the middle",
    events: [...BROKEN, failed("overloaded_error", "Overloaded")],
    parts: SEEN,
    failure: { kind: "overloaded", isRetryable: true, detail: "Overloaded" },
  },
  {
    name: "an overloaded vendor before anything else",
    events: [failed("overloaded_error", "Overloaded")],
    parts: [],
    failure: { kind: "overloaded", isRetryable: true },
  },
  {
    name: "an internal error",
    events: [...BROKEN, failed("api_error", "Internal server error")],
    parts: SEEN,
    failure: { kind: "generic", isRetryable: true, detail: "Internal server error" },
  },
  {
    name: "a rate limit in the middle",
    events: [...BROKEN, failed("rate_limit_error", "This request would exceed your rate limit.")],
    parts: SEEN,
    failure: { kind: "rate_limited", isRetryable: true },
  },
  {
    name: "a timeout in the middle",
    events: [...BROKEN, failed("timeout_error", "Request timed out")],
    parts: SEEN,
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "a prompt that is too long after all",
    events: [start(), failed("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")],
    parts: [used()],
    failure: { kind: "context_too_large", isRetryable: false },
  },
  {
    name: "credentials that end during the answer",
    events: [...BROKEN, failed("authentication_error", "key revoked")],
    parts: SEEN,
    failure: { kind: "auth", isRetryable: false },
  },
  {
    name: "an error that says nothing",
    events: [...BROKEN, { type: "error" }],
    parts: SEEN,
    failure: { kind: "generic", isRetryable: false },
  },
  {
    name: "an end without any event",
    events: [],
    parts: [],
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "an end in the middle of a text",
    events: BROKEN,
    parts: SEEN,
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "an end after a block, before the reason to stop",
    events: [start(), ...text(0, "a")],
    parts: SEEN,
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "a broken connection in the middle of a call",
    events: [
      start(),
      block(0, { type: "tool_use", id: "a", name: "execute", input: {} }),
      input(0, '{"com'),
      CUT,
    ],
    parts: [used(), toolInput("a", '{"com')],
    failure: { kind: "timeout", isRetryable: true },
  },
];
