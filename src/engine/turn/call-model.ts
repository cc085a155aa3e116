/** One attempt at a model call: streams it to subscribers, gathers the message, and says how it ended. Never throws
 * for what a vendor or a person did; what it rejects with is a bug. */
import type { ChatFailure } from "../../domain/failures.js";
import { ModelCallError } from "../../domain/failures.js";
import type { MessagePart, TokenUsage } from "../../domain/message-parts.js";
import type { FinishReason } from "../../providers/types.js";
import { MessageAccumulator, NO_ADDITIONS, type Additions } from "./accumulate.js";
import { CallTimes } from "./call-times.js";
import { PieceWriter } from "./piece-writer.js";
import type { OpenModelStream, TurnPorts } from "./ports.js";
import { StreamRepair } from "./repair-stream.js";

export type CallOutcome =
  | {
      type: "completed";
      parts: MessagePart[];
      usage: TokenUsage | null;
      finishReason: FinishReason;
      /** The vendor's id of the response; null when it gives none. */
      responseId: string | null;
    }
  | {
      type: "failed";
      failure: ChatFailure;
      /** What had arrived and been shown: worth keeping only when a person has stopped the turn meanwhile. */
      parts: MessagePart[];
      usage: TokenUsage | null;
      retryAfterMs: number | undefined;
      /** The model's context in tokens, where the vendor's refusal told it. */
      contextLimit: number | undefined;
      cause: unknown;
    }
  /** The signal was aborted; `parts` is what had arrived. */
  | { type: "stopped"; parts: MessagePart[]; usage: TokenUsage | null };

export async function callModel(
  open: OpenModelStream,
  signal: AbortSignal,
  ports: TurnPorts,
  additions: Additions = NO_ADDITIONS,
): Promise<CallOutcome> {
  const message = new MessageAccumulator(additions);
  const writer = new PieceWriter("assistant", ports);
  const times = new CallTimes(ports.clock);
  for (const [partIndex, piece] of additions.notices.entries()) writer.write({ partIndex, piece });
  const repair = new StreamRepair((part) => {
    const placed = message.add(part);
    if (placed) writer.write(placed);
  });
  try {
    for await (const part of open(signal)) {
      if (signal.aborted) break;
      repair.take(times.stamp(part));
    }
    repair.end();
  } catch (error) {
    repair.end();
    if (signal.aborted) return stopped(message, writer);
    writer.flush();
    if (!(error instanceof ModelCallError)) throw error;
    const { failure, retryAfterMs, contextLimit } = error;
    return { type: "failed", failure, ...soFar(message), retryAfterMs, contextLimit, cause: error };
  }
  if (signal.aborted) return stopped(message, writer);
  if (message.finishReason === null) {
    writer.flush();
    return { type: "failed", failure: STREAM_CUT, ...soFar(message), ...UNTOLD };
  }
  writer.flush();
  return {
    type: "completed",
    parts: message.parts(),
    usage: message.usage,
    finishReason: message.finishReason,
    responseId: message.responseId,
  };
}

function stopped(message: MessageAccumulator, writer: PieceWriter): CallOutcome {
  writer.flush();
  return { type: "stopped", ...soFar(message) };
}

function soFar(message: MessageAccumulator): { parts: MessagePart[]; usage: TokenUsage | null } {
  return { parts: message.parts(), usage: message.usage };
}

/** What a failure tells that the vendor did not word. */
const UNTOLD = { retryAfterMs: undefined, contextLimit: undefined, cause: undefined };

const STREAM_CUT: ChatFailure = {
  kind: "timeout",
  message: "The model's answer broke off before it was complete.",
  isRetryable: true,
};
