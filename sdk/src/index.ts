/** Public API of the package. */
export { createParley, type ChatEvent, type Parley, type ParleyOptions, type Streams } from "./parley.js";
export { ParleyError, type AnswerError } from "./parley-error.js";
export {
  ChatTranscript,
  type Preview,
  type PreviewPart,
  TOOL_OUTPUT_CHARACTERS,
  type ToolInput,
  type ToolOutput,
  type TranscriptMessage,
  type TranscriptState,
} from "./transcript.js";
export type { CallOptions, Fetch } from "./calls.js";
export type { RetryNotice } from "./follower.js";
export type { RetryDelays } from "./retry-delay.js";
export type { TokenSource } from "./token.js";
export type { WebSocketConstructor } from "./socket.js";
export * from "./generated.js";
