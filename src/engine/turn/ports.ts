/** What a turn's acts need from the outside. Every port is required: a missing one is a compile error. */
import type { LiveDelta } from "../../domain/chats/chat-events.js";
import type { ToolCallPart } from "../../domain/chats/message-parts.js";
import type { StoredToolOutcome } from "../../domain/chats/tool-outcome.js";
import type { ModelStreamPart } from "../../providers/types.js";
import type { Clock } from "../../lib/clock.js";

/** Tells the world of deltas, in sequence order. Must not throw. */
export type Publish = (deltas: LiveDelta[]) => void;

/** One attempt at the model; see ModelProvider.stream for what it throws. */
export type OpenModelStream = (signal: AbortSignal) => AsyncIterable<ModelStreamPart>;

/**
 * Runs one tool. Resolves with an error outcome for everything the model can react to; a rejection is a bug in
 * the tool and becomes an error outcome too, logged by whoever passes this port.
 */
export type RunTool = (
  call: Pick<ToolCallPart, "toolCallId" | "toolName" | "arguments" | "isCut">,
  signal: AbortSignal,
  output: ShowOutput,
) => Promise<StoredToolOutcome>;

/** Takes what a running tool says, for a preview; see `ToolContext.output`. */
export type ShowOutput = (text: string, missedBytes?: number) => void;

/** What an act says goes to the generation that it began in. */
export type TurnPorts = {
  clock: Clock;
  publish: Publish;
  /** The shortest time between two announcements, as it is now. */
  deltaIntervalMs: () => number;
};
