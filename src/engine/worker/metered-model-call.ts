/** One model call, with metrics and tracing. */
import type { LiveDelta } from "../../domain/chats/chat-events.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import { traceModelCall } from "../../services/models/trace-model-call.js";
import type { Preamble } from "../turn/accumulate.js";
import { callModel, type CallOutcome } from "../turn/call-model.js";
import type { TurnPorts } from "../turn/ports.js";
import type { ChatRun } from "./chat-run.js";
import type { PreparedCall } from "./turn-model-context.js";

type MeteredCallOptions = {
  /** Where deltas are published. */
  ports: TurnPorts;
  preamble?: Preamble;
  purpose: ModelCallPurpose;
};

/** Resolves and rejects as `callModel` does. */
export function meteredModelCall(
  run: ChatRun,
  call: PreparedCall,
  options: MeteredCallOptions,
): Promise<CallOutcome> {
  const { model, request } = call;
  const { chatId } = run.chat;
  const { generationId: generation, state } = run;
  const { clock, log, telemetry } = run.dependencies;
  const { purpose } = options;
  const traced = { chatId, generation, model, request, attempt: state.attempt, purpose };
  return traceModelCall({ clock, log, ...telemetry }, traced, (onFirstPart) =>
    measure(run, call, { ...options, onFirstPart }),
  );
}

async function measure(
  run: ChatRun,
  call: PreparedCall,
  { ports, preamble, onFirstPart }: MeteredCallOptions & { onFirstPart: () => void },
): Promise<CallOutcome> {
  const { telemetry, clock } = run.dependencies;
  const startedAt = clock.now();
  const elapsedSeconds = () => (clock.now() - startedAt) / 1_000;
  let hasBegun = false;
  const publish = (deltas: LiveDelta[]) => {
    // The preamble's notices are ours, not the model's first part.
    const isFromModel = deltas.some(({ delta }) => delta.type !== "notice");
    if (isFromModel && !hasBegun) {
      telemetry.meter.firstPart(elapsedSeconds());
      onFirstPart();
    }
    hasBegun ||= isFromModel;
    ports.publish(deltas);
  };
  const outcome = await callModel(call, run.abort.signal, { ...ports, publish }, preamble);
  const { type, usage } = outcome;
  const model = call.model.config.model;
  telemetry.meter.modelCall({ outcome: type, seconds: elapsedSeconds(), model, usage });
  return outcome;
}
