// Events of the hub as the API would send them for the SDK's document.
import {
  generationId,
  type Generation,
  type MessageRow,
  type QueuedRow,
} from "../../src/domain/chats/chat-events.js";
import type { ChatEvent as HubEvent } from "../../src/domain/chats/chat-stream.js";
import type { MessagePart } from "../../src/domain/chats/message-parts.js";
import type { ChatEvent } from "../../sdk/src/index.js";
import type { ChatWorld } from "../events/world.js";

/** What the SDK's types make of it is checked against a real server elsewhere; here only meanings count. */
export function toApiEvent(event: HubEvent, world: ChatWorld): ChatEvent {
  return { cursor: event.cursor, ...bodyOf(event, world) } as unknown as ChatEvent;
}

export function toApiMessage({ id, role, parts, runtimeMs }: MessageRow): object {
  return { id, role: role.toUpperCase(), parts: parts.map(toApiPart), runtimeMs };
}

export function toApiQueued({ id, parts, isCut }: QueuedRow): object {
  return { id, parts: parts.map(toApiPart), isTruncated: isCut };
}

function toApiPart(part: MessagePart): object {
  return part.type === "text" ? { __typename: "TextPart", text: part.text } : { __typename: part.type };
}

function bodyOf(event: HubEvent, world: ChatWorld): object {
  switch (event.type) {
    case "refresh":
      return { __typename: "ChatRefreshEvent", reason: event.reason.toUpperCase(), chat: toApiChat(world) };
    case "caught-up":
      return { __typename: "ChatCaughtUpEvent", replayedEvents: event.replayedEvents };
    case "message": {
      const { generation } = event.message;
      const replacedGeneration = generation === null ? null : { id: generation, attempt: 1 };
      return { __typename: "ChatMessageEvent", message: toApiMessage(event.message), replacedGeneration };
    }
    case "part": {
      const { sequence, partIndex, delta, role } = event;
      const append = "append" in delta ? delta.append : "";
      return {
        ...{ __typename: "ChatPartEvent", sequence, partIndex, role: role.toUpperCase() },
        ...{ generation: toApiGeneration(event.generation), delta: { __typename: "TextDelta", append } },
      };
    }
    case "preview-reset":
      return { __typename: "ChatPreviewResetEvent", generation: toApiGeneration(event.generation) };
    case "status":
      return { __typename: "ChatStatusEvent", status: event.status.toUpperCase() };
    case "error":
      return { __typename: "ChatErrorEvent", failure: event.failure };
    case "queue":
      return { __typename: "ChatQueueEvent", queuedMessages: event.queue.map(toApiQueued) };
    case "action-required":
      return { __typename: "ChatActionRequiredEvent", toolCalls: event.calls, deadline: "soon" };
    case "retry":
      return {
        __typename: "ChatRetryEvent",
        retry: event.retry,
        generation: toApiGeneration(event.generation),
      };
    case "title":
      return { __typename: "ChatTitleEvent", title: event.title };
    case "diff-status":
      return { __typename: "ChatDiffStatusEvent", diffStatus: null };
  }
}

function toApiGeneration(generation: Generation): object {
  return { id: generationId(generation), attempt: generation.attempt };
}

function toApiChat({ state, messages, queue }: ChatWorld): object {
  return {
    ...{ title: state.title, status: state.status.toUpperCase(), lastError: state.lastError },
    ...{ retry: state.retry, pendingToolCalls: state.openCalls, queuedMessages: queue.map(toApiQueued) },
    messages: { nodes: messages.map(toApiMessage), pageInfo: { hasPreviousPage: false, startCursor: null } },
  };
}
