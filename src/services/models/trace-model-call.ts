/**
 * One attempt at a model call, as it is told to those who follow turns (what was asked for and how it went, no words),
 * and to those who record calls whole, where that is switched on.
 */
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import type { Span, Traces } from "../../domain/common/traces.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { ModelRequest } from "../../providers/types.js";
import type { CallRecorder } from "./call-records.js";
import type { TurnModel } from "./models.js";
import type { CallOutcome } from "../../engine/turn/call-model.js";

/** Who is told. */
export type ModelCallTracing = { traces: Traces; callRecords: CallRecorder; clock: Clock; log: Log };

export type TracedModelCall = {
  chatId: string;
  /** Of the message that is asked for; null = of none. */
  generation: string | null;
  model: Pick<TurnModel, "kind" | "config">;
  request: ModelRequest;
  /** Of the answer that is asked for; 1 = the first. */
  attempt: number;
  purpose: ModelCallPurpose;
};

/** `work` says when the first part of the answer has come. Its outcome is the call's. */
export function traceModelCall(
  { traces, callRecords, clock, log }: ModelCallTracing,
  call: TracedModelCall,
  work: (firstPartCame: () => void) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  return traces.within(beginningOf(call), async (span) => {
    const startedAt = clock.now();
    let firstPartMs: number | null = null;
    const outcome = await work(() => (firstPartMs = clock.now() - startedAt));
    tellOutcome(span, outcome, firstPartMs);
    const { model, ...facts } = call;
    if (outcome.oddUsage !== undefined) {
      const { chatId, purpose } = facts;
      const reported = { chatId, purpose, model: model.config.model, fields: outcome.oddUsage };
      log.warn(reported, "A vendor reported numbers of tokens that are none: they are repaired or estimated");
    }
    const durationMs = clock.now() - startedAt;
    callRecords.record({ ...facts, provider: model.kind, outcome, startedAt, firstPartMs, durationMs });
    return outcome;
  });
}

function beginningOf({ model, attempt, purpose }: TracedModelCall) {
  const name = model.config.model;
  const facts = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": model.kind,
    "gen_ai.request.model": name,
    "parley.attempt": attempt,
    "parley.purpose": purpose,
  };
  return { name: `chat ${name}`, kind: "client" as const, facts };
}

function tellOutcome(span: Span, outcome: CallOutcome, firstPartMs: number | null): void {
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
