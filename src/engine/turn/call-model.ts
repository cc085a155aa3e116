/** One attempt at a model call: streams it to subscribers, gathers the message, and says how it ended. Never throws
 * for what a vendor or a person did; what it rejects with is a bug. */
import type { ChatFailure } from "../../domain/common/failures.js";
import { ModelCallError } from "../../domain/common/failures.js";
import type { MessagePart, NoticePart, TokenUsage } from "../../domain/chats/message-parts.js";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import type { ModelRequest } from "../../providers/types.js";
import { estimatePromptTokens } from "./estimate-prompt.js";
import { MessageAccumulator, EMPTY_PREAMBLE, type Preamble } from "./accumulate.js";
import { CallTimes } from "./call-times.js";
import { DeltaBatcher } from "./delta-batcher.js";
import type { OpenModelStream, TurnPorts } from "./ports.js";
import { StreamRepair } from "./repair-stream.js";
import { settleUsage } from "./settle-usage.js";

/** What is asked, and how: `request` is what `open` sends. */
export type ModelCall = { open: OpenModelStream; request: ModelRequest };

/** What was used, by the vendor's report or by estimate; null = the vendor has not begun, and charges nothing. */
type Used = {
  usage: TokenUsage | null;
  /** See `ReportedUsage.oddFields`. */
  oddUsage?: Record<string, string>;
};

export type CallOutcome = Used &
  (
    | {
        type: "completed";
        parts: MessagePart[];
        finishReason: FinishReason;
        /** The vendor's id of the response; null when it gives none. */
        responseId: string | null;
      }
    | {
        type: "failed";
        failure: ChatFailure;
        /** What had arrived and been shown: worth keeping only when a person has stopped the turn meanwhile. */
        parts: MessagePart[];
        retryAfterMs: number | undefined;
        /** The model's context in tokens, where the vendor's refusal told it. */
        contextLimit: number | undefined;
        cause: unknown;
      }
    /** The signal was aborted; `parts` is what had arrived. */
    | { type: "stopped"; parts: MessagePart[] }
  );

export async function callModel(
  call: ModelCall,
  signal: AbortSignal,
  ports: TurnPorts,
  preamble: Preamble = EMPTY_PREAMBLE,
): Promise<CallOutcome> {
  const message = new MessageAccumulator(preamble);
  if (signal.aborted) return { type: "stopped", parts: message.parts(), usage: null };
  const writer = new DeltaBatcher("assistant", ports);
  const times = new CallTimes(ports.clock);
  for (const [partIndex, delta] of preamble.notices.entries()) writer.write({ partIndex, delta });
  const repair = new StreamRepair((part) => {
    const placed = message.add(part);
    if (placed) writer.write(placed);
  });
  try {
    for await (const part of call.open(signal)) {
      if (signal.aborted) break;
      repair.take(times.stamp(part));
    }
    repair.end();
  } catch (error) {
    repair.end();
    writer.flush();
    if (signal.aborted) return { type: "stopped", ...soFar(message, call) };
    if (!(error instanceof ModelCallError)) throw error;
    const { failure, retryAfterMs, contextLimit } = error;
    return { type: "failed", failure, ...begun(message, call), retryAfterMs, contextLimit, cause: error };
  }
  const { finishReason, responseId } = message;
  if (!signal.aborted && finishReason === "length")
    for (const placed of message.cut(CUT_NOTICE, ports.clock.now())) writer.write(placed);
  writer.flush();
  if (signal.aborted) return { type: "stopped", ...soFar(message, call) };
  if (finishReason === null)
    return { type: "failed", failure: STREAM_CUT, ...begun(message, call), ...UNTOLD };
  return { type: "completed", ...soFar(message, call), finishReason, responseId };
}

/** Of a call that was sent: that the vendor has said nothing yet does not mean that it reads for nothing. */
function soFar(message: MessageAccumulator, { request }: ModelCall): Used & { parts: MessagePart[] } {
  const { usage: reported, finishReason, lostInputCharacters } = message;
  const parts = message.parts();
  const promptTokens = () => estimatePromptTokens(request);
  const isWhole = finishReason !== null;
  const usage = settleUsage({ reported, promptTokens, parts, lostInputCharacters, isWhole });
  const oddUsage = reported?.oddFields;
  return { parts, usage, ...(oddUsage === undefined ? {} : { oddUsage }) };
}

/** Of a failed call: what is refused before the vendor begins is not charged. */
function begun(message: MessageAccumulator, call: ModelCall): Used & { parts: MessagePart[] } {
  return message.hasBegun ? soFar(message, call) : { parts: message.parts(), usage: null };
}

/** Stands behind an answer that nothing goes on from by itself. */
export const CUT_NOTICE: NoticePart = {
  type: "notice",
  level: "warning",
  text: 'The answer was cut off at the output limit. Say "continue" to let the model go on.',
};

/** What a failure tells that the vendor did not word. */
const UNTOLD = { retryAfterMs: undefined, contextLimit: undefined, cause: undefined };

const STREAM_CUT: ChatFailure = {
  kind: "timeout",
  message: "The model's answer broke off before it was complete.",
  isRetryable: true,
};
