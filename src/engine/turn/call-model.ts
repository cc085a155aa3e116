/**
 * One attempt at a model call: streams it to subscribers, accumulates the message, and returns its outcome. A vendor's
 * failure or a user's stop is an outcome; a rejection is a bug.
 */
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

/** `request` is what `open` sends. */
type ModelCall = { open: OpenModelStream; request: ModelRequest };

/** Usage, as reported by the vendor or estimated; null = the vendor has not begun, and charges nothing. */
type Used = {
  usage: TokenUsage | null;
  /** See `ReportedUsage.anomalies`. */
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
        /** What had arrived and been shown; persisted only when a user has stopped the turn meanwhile. */
        parts: MessagePart[];
        retryAfterMs: number | undefined;
        /** The model's context limit in tokens, where the vendor's refusal contains it. */
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
  const batcher = new DeltaBatcher("assistant", ports);
  const times = new CallTimes(ports.clock);
  for (const [partIndex, delta] of preamble.notices.entries()) batcher.write({ partIndex, delta });
  const repair = new StreamRepair((part) => {
    const delta = message.add(part);
    if (delta) batcher.write(delta);
  });
  try {
    for await (const part of call.open(signal)) {
      if (signal.aborted) break;
      repair.take(times.stamp(part));
    }
    repair.end();
  } catch (error) {
    repair.end();
    batcher.flush();
    if (signal.aborted) return { type: "stopped", ...soFar(message, call) };
    if (!(error instanceof ModelCallError)) throw error;
    const { failure, retryAfterMs, contextLimit } = error;
    return {
      type: "failed",
      failure,
      ...soFarIfBegun(message, call),
      retryAfterMs,
      contextLimit,
      cause: error,
    };
  }
  const { finishReason, responseId } = message;
  if (!signal.aborted && finishReason === "length")
    for (const delta of message.cut(CUT_NOTICE, ports.clock.now())) batcher.write(delta);
  batcher.flush();
  if (signal.aborted) return { type: "stopped", ...soFar(message, call) };
  if (finishReason === null)
    return { type: "failed", failure: STREAM_CUT, ...soFarIfBegun(message, call), ...WITHOUT_DETAILS };
  return { type: "completed", ...soFar(message, call), finishReason, responseId };
}

/** Message and usage of a call that was sent. A vendor that has not answered yet may still charge for the prompt. */
function soFar(message: MessageAccumulator, { request }: ModelCall): Used & { parts: MessagePart[] } {
  const { usage: reported, finishReason, lostInputCharacters } = message;
  const parts = message.parts();
  const promptTokens = () => estimatePromptTokens(request);
  const isWhole = finishReason !== null;
  const usage = settleUsage({ reported, promptTokens, parts, lostInputCharacters, isWhole });
  const oddUsage = reported?.anomalies;
  return { parts, usage, ...(oddUsage === undefined ? {} : { oddUsage }) };
}

/** Message and usage of a failed call. What is refused before the vendor begins is not charged. */
function soFarIfBegun(message: MessageAccumulator, call: ModelCall): Used & { parts: MessagePart[] } {
  return message.hasBegun ? soFar(message, call) : { parts: message.parts(), usage: null };
}

/** Follows a cut answer that the turn does not continue by itself. */
export const CUT_NOTICE: NoticePart = {
  type: "notice",
  level: "warning",
  text: 'The answer was cut off at the output limit. Say "continue" to let the model go on.',
};

/** Of a failure that the vendor did not report. */
const WITHOUT_DETAILS = { retryAfterMs: undefined, contextLimit: undefined, cause: undefined };

const STREAM_CUT: ChatFailure = {
  kind: "timeout",
  message: "The model's answer broke off before it was complete.",
  isRetryable: true,
};
