/** AWS's binary stream around Claude's events: its own exceptions, cuts and oddities. */
import type { JsonObject } from "../../../../src/domain/common/json.js";
import { eventStreamMessage } from "../../../../src/demo-model/aws-event-stream.js";
import { chunkMessage, exceptionMessage } from "../../../../src/demo-model/wire-bedrock.js";
import { CUT } from "../../replays/replay-server.js";
import {
  because,
  ended,
  finished,
  type FramingCase,
  over,
  textDelta,
  start,
  text,
  textBlock,
  used,
  words,
} from "../anthropic/events.js";

/** One event as Bedrock frames it. */
export const frame = (event: JsonObject): Buffer => chunkMessage(JSON.stringify(event));

const HELLO = Buffer.concat([start(), ...text(0, "Grüße 🌍"), ...ended].map(frame));
const EXPECTED_PARTS = [used(), textDelta("Grüße 🌍"), ...finished()];
const BROKEN = Buffer.concat([start(), textBlock(0), words(0, "a")].map(frame));
const SEEN = [used(), textDelta("a")];

const exceptions: [string, string, FramingCase["failure"]][] = [
  [
    "throttlingException",
    "Too many tokens, please wait before trying again.",
    { kind: "rate_limited", isRetryable: true },
  ],
  ["modelTimeoutException", "Took too long.", { kind: "timeout", isRetryable: true }],
  ["modelStreamErrorException", "The model failed.", { kind: "generic", isRetryable: true }],
  ["internalServerException", "Oops.", { kind: "generic", isRetryable: true }],
  ["serviceUnavailableException", "Later.", { kind: "timeout", isRetryable: true }],
  ["validationException", "Malformed input request.", { kind: "generic", isRetryable: false }],
  [
    "validationException",
    "Input is too long for requested model.",
    { kind: "context_too_large", isRetryable: false },
  ],
  ["accessDeniedException", "Not yours.", { kind: "auth", isRetryable: false }],
  ["brandNewException", "Who knows.", { kind: "generic", isRetryable: false }],
];

/** Every byte on its own would be slow; odd sizes cut preludes, headers, payloads and checksums. */
const fragments = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
const damaged = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(copy.length - 20) ^ 1, copy.length - 20);
  return copy;
};

export const BEDROCK_CASES: FramingCase[] = [
  ...exceptions.map(([type, message, failure]) => ({
    name: `${type} in the middle: ${message}`,
    chunks: [BROKEN, exceptionMessage(type, message)],
    parts: SEEN,
    failure: { ...failure, detail: message },
  })),
  {
    name: "an exception before anything else",
    chunks: [exceptionMessage("throttlingException", "Slow down.")],
    parts: [],
    failure: { kind: "rate_limited", isRetryable: true, detail: "Slow down." },
  },
  {
    name: "an error that is no exception",
    chunks: [
      BROKEN,
      eventStreamMessage(
        { ":message-type": "error", ":error-code": "InternalFailure", ":error-message": "broken pipe" },
        Buffer.alloc(0),
      ),
    ],
    parts: SEEN,
    failure: { kind: "timeout", isRetryable: true, detail: "broken pipe" },
  },
  { name: "everything in one packet", chunks: [HELLO], parts: EXPECTED_PARTS },
  ...[1, 7, 64].map((size) => ({
    name: `packets of ${size} bytes`,
    chunks: fragments(HELLO, size),
    parts: EXPECTED_PARTS,
  })),
  {
    name: "what the call used, in the last event",
    chunks: [
      ...[start(), ...text(0, "a"), because("end_turn")].map(frame),
      frame({ ...over, "amazon-bedrock-invocationMetrics": { inputTokenCount: 9, outputTokenCount: 5 } }),
    ],
    parts: [...SEEN, ...finished()],
  },
  {
    name: "a filled-up chunk, as Bedrock hides the length of words",
    chunks: [
      eventStreamMessage(
        { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" },
        Buffer.from(
          JSON.stringify({ bytes: Buffer.from(JSON.stringify(start())).toString("base64"), p: "abcdefgh" }),
        ),
      ),
      ...[...text(0, "a"), ...ended].map(frame),
    ],
    parts: [...SEEN, ...finished()],
  },
  {
    name: "events of types that are newer than this",
    chunks: [
      eventStreamMessage({ ":event-type": "novelty", ":message-type": "event" }, Buffer.from("{}")),
      frame({ heartbeat: true }),
      HELLO,
    ],
    parts: EXPECTED_PARTS,
  },
  {
    name: "a damaged message",
    chunks: [BROKEN, damaged(frame(words(0, "b")))],
    parts: SEEN,
    failure: { kind: "generic", isRetryable: true },
  },
  {
    name: "an end in the middle of a message",
    chunks: [BROKEN, frame(words(0, "b")).subarray(0, 30)],
    parts: SEEN,
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "a broken connection in the middle of a message",
    chunks: [BROKEN, frame(words(0, "b")).subarray(0, 30), CUT],
    parts: SEEN,
    failure: { kind: "timeout", isRetryable: true },
  },
  {
    name: "a chunk that is no JSON",
    chunks: [BROKEN, chunkMessage("{oops")],
    parts: SEEN,
    failure: { kind: "generic", isRetryable: true },
  },
];
