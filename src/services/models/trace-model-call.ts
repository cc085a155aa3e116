/** One model call with its trace span (facts, no texts) and, if enabled, its full record. */
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import type { Span, SpanStart, Traces } from "../../domain/common/traces.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { ModelRequest } from "../../providers/types.js";
import type { CallRecorder } from "./call-records.js";
import type { TurnModel } from "./models.js";
import type { CallOutcome } from "../../engine/turn/call-model.js";

export type ModelCallTracing = { traces: Traces; callRecords: CallRecorder; clock: Clock; log: Log };

export type TracedModelCall = {
  chatId: string;
  /** Of the generated message; null = none is generated. */
  generation: string | null;
  model: Pick<TurnModel, "kind" | "config">;
  request: ModelRequest;
  /** 1 = the first attempt at this answer. */
  attempt: number;
  purpose: ModelCallPurpose;
};

/** `work` calls `onFirstPart` at the first part of the answer. Resolves with its outcome. */
export function traceModelCall(
  { traces, callRecords, clock, log }: ModelCallTracing,
  call: TracedModelCall,
  work: (onFirstPart: () => void) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  return traces.within(spanOf(call), async (span) => {
    const startedAt = clock.now();
    let firstPartMs: number | null = null;
    const outcome = await work(() => (firstPartMs = clock.now() - startedAt));
    recordOutcome(span, outcome, firstPartMs);
    const { model, ...facts } = call;
    if (outcome.oddUsage !== undefined) {
      const { chatId, purpose } = facts;
      const reported = { chatId, purpose, model: model.config.model, fields: outcome.oddUsage };
      log.warn(reported, "vendor reported invalid token counts; they are repaired or estimated");
    }
    const durationMs = clock.now() - startedAt;
    callRecords.record({ ...facts, provider: model.kind, outcome, startedAt, firstPartMs, durationMs });
    return outcome;
  });
}

function spanOf({ model, attempt, purpose }: TracedModelCall): SpanStart {
  const name = model.config.model;
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": model.kind,
    "gen_ai.request.model": name,
    "parley.attempt": attempt,
    "parley.purpose": purpose,
  };
  return { name: `chat ${name}`, kind: "client", attributes };
}

function recordOutcome(span: Span, outcome: CallOutcome, firstPartMs: number | null): void {
  const { type, usage } = outcome;
  span.setAttributes({
    "parley.outcome": type,
    "parley.time_to_first_part_ms": firstPartMs,
    "gen_ai.response.finish_reason": type === "completed" ? outcome.finishReason : null,
    "gen_ai.usage.input_tokens": usage?.inputTokens,
    "gen_ai.usage.output_tokens": usage?.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage?.cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWriteTokens,
  });
  if (type === "failed") span.fail(outcome.failure.kind);
}
