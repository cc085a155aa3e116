/** One attempt at the model, and what is told of it to whoever measures and follows. */
import type { LiveDelta } from "../../domain/chats/chat-events.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import { traceModelCall } from "../../services/models/trace-model-call.js";
import type { Preamble } from "../turn/accumulate.js";
import { callModel, type CallOutcome } from "../turn/call-model.js";
import type { TurnPorts } from "../turn/ports.js";
import type { ChatRun } from "./chat-run.js";
import type { PreparedCall } from "./turn-context.js";

export type MeteredCallOptions = {
  /** What is shown goes there. */
  ports: TurnPorts;
  preamble?: Preamble;
  purpose: ModelCallPurpose;
};

/** As `callModel`. */
export function meteredModelCall(
  hold: ChatRun,
  call: PreparedCall,
  wish: MeteredCallOptions,
): Promise<CallOutcome> {
  const { model, request } = call;
  const { chatId } = hold.chat;
  const { generationId: generation, state } = hold;
  const followed = { chatId, generation, model, request, attempt: state.attempt, purpose: wish.purpose };
  return traceModelCall(hold.parts, followed, (firstPartCame) =>
    measure(hold, call, { ...wish, firstPartCame }),
  );
}

async function measure(
  hold: ChatRun,
  call: PreparedCall,
  { ports, preamble, firstPartCame }: MeteredCallOptions & { firstPartCame: () => void },
): Promise<CallOutcome> {
  const { meter, clock } = hold.parts;
  const startedAt = clock.now();
  const since = () => (clock.now() - startedAt) / 1_000;
  let hasBegun = false;
  const publish = (deltas: LiveDelta[]) => {
    // What we say ourselves before the model does is not its beginning.
    const isModels = deltas.some(({ delta }) => delta.type !== "notice");
    if (isModels && !hasBegun) {
      meter.firstPart(since());
      firstPartCame();
    }
    hasBegun ||= isModels;
    ports.publish(deltas);
  };
  const outcome = await callModel(call, hold.switch.signal, { ...ports, publish }, preamble);
  const { type, usage } = outcome;
  meter.modelCall({ outcome: type, seconds: since(), model: call.model.config.model, usage });
  return outcome;
}
