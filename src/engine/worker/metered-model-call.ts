/** One attempt at the model, and what is told of it to whoever measures and follows. */
import type { LivePiece } from "../../domain/chats/chat-events.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import { followCall } from "../../services/models/trace-model-call.js";
import type { Additions } from "../turn/accumulate.js";
import { callModel, type CallOutcome } from "../turn/call-model.js";
import type { TurnPorts } from "../turn/ports.js";
import type { Hold } from "./chat-run.js";
import type { PreparedCall } from "./turn-context.js";

export type CallWish = {
  /** What is shown goes there. */
  ports: TurnPorts;
  additions?: Additions;
  purpose: ModelCallPurpose;
};

/** As `callModel`. */
export function measuredCall(hold: Hold, call: PreparedCall, wish: CallWish): Promise<CallOutcome> {
  const { model, request } = call;
  const { chatId } = hold.chat;
  const { generationId: generation, state } = hold;
  const followed = { chatId, generation, model, request, attempt: state.attempt, purpose: wish.purpose };
  return followCall(hold.parts, followed, (firstPartCame) => measure(hold, call, { ...wish, firstPartCame }));
}

async function measure(
  hold: Hold,
  call: PreparedCall,
  { ports, additions, firstPartCame }: CallWish & { firstPartCame: () => void },
): Promise<CallOutcome> {
  const { meter, clock } = hold.parts;
  const startedAt = clock.now();
  const since = () => (clock.now() - startedAt) / 1_000;
  let hasBegun = false;
  const announce = (pieces: LivePiece[]) => {
    // What we say ourselves before the model does is not its beginning.
    const isModels = pieces.some(({ piece }) => piece.type !== "notice");
    if (isModels && !hasBegun) {
      meter.firstPart(since());
      firstPartCame();
    }
    hasBegun ||= isModels;
    ports.announce(pieces);
  };
  const outcome = await callModel(call, hold.switch.signal, { ...ports, announce }, additions);
  const { type, usage } = outcome;
  meter.modelCall({ outcome: type, seconds: since(), model: call.model.config.model, usage });
  return outcome;
}
