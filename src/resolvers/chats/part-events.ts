/** Converts live part events to API objects. */
import { type Generation as DomainGeneration, generationId } from "../../domain/chats/chat-events.js";
import type { ChatEvent } from "../../domain/chats/chat-stream.js";
import type { ChatPartEvent, Generation } from "../../schema/chats/chat-event.union.js";
import { toMessageDelta } from "../common/shapes.js";

/** Plain data, whatever is selected. Needs no context unless the delta is a whole part. */
export function toPartEvent(event: ChatEvent & { type: "part" }): ChatPartEvent {
  const { cursor, sequence, role, partIndex } = event;
  const generation = toGeneration(event.generation);
  const delta = toMessageDelta(event.delta);
  return { __typename: "ChatPartEvent", cursor, generation, sequence, role, partIndex, delta };
}

export function toGeneration(generation: DomainGeneration): Generation {
  const { attempt, startedAt = null } = generation;
  return { id: generationId(generation), attempt, startedAt };
}
