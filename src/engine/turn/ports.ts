/** Ports of a turn's actions. All are required: a missing one is a compile error. */
import type { LiveDelta } from "../../domain/chats/chat-events.js";
import type { ToolCallPart } from "../../domain/chats/message-parts.js";
import type { StoredToolOutcome } from "../../domain/chats/tool-outcome.js";
import type { ModelStreamPart } from "../../providers/types.js";
import type { Clock } from "../../lib/clock.js";

/** Publishes deltas, in sequence order. Must not throw. */
type Publish = (deltas: LiveDelta[]) => void;

/** Opens one attempt at the model; throws as ModelProvider.stream does. */
export type OpenModelStream = (signal: AbortSignal) => AsyncIterable<ModelStreamPart>;

/**
 * Runs one tool. Resolves with an error outcome for everything the model can react to; a rejection is a bug in the tool
 * and becomes an error outcome too. The port logs it.
 */
export type RunTool = (
  call: Pick<ToolCallPart, "toolCallId" | "toolName" | "arguments" | "isCut">,
  signal: AbortSignal,
  output: ShowOutput,
) => Promise<StoredToolOutcome>;

/** Shows live output of a running tool; see `ToolContext.output`. */
export type ShowOutput = (text: string, missedBytes?: number) => void;

/** Bound to one generation: everything that is published belongs to it. */
export type TurnPorts = {
  clock: Clock;
  publish: Publish;
  /** Shortest time between two publications, in milliseconds, under the present load. */
  deltaIntervalMs: () => number;
};
