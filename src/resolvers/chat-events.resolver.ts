/** The stream of one chat's events: opened for those who may read the chat, each event shaped as the API says. */
import { Arg, Ctx, ID, Resolver, Root, Subscription } from "type-graphql";
import {
  type Generation as DomainGeneration,
  generationId,
  parseGenerationId,
} from "../domain/chat-events.js";
import type { ChatEvent } from "../domain/chat-stream.js";
import { type ChatEventObject, ChatEventUnion, type Generation } from "../schema/chat-event.union.js";
import type { Context } from "./context.js";
import { forbidden } from "./errors.js";
import { demandChat } from "./message.resolver.js";
import { databaseId } from "./public-ids.js";
import {
  toChatMessage,
  toFailure,
  toPartPiece,
  toPendingToolCalls,
  toQueuedMessage,
  toRetryState,
} from "./shapes.js";

type Opening = { args: { chatId: string; after?: string | null }; context: Context };

async function openChatEvents({ args, context }: Opening): Promise<AsyncIterableIterator<ChatEvent>> {
  const chatId = databaseId("chat", args.chatId, "chatId");
  const events = await context.chatEvents.subscribe(context.viewer, chatId, args.after ?? null);
  if (!events) throw forbidden("There is no such chat, or it is not yours to read.");
  await noteOpening(context, chatId, events);
  // Asked from time to time while the stream is read, with a new context; it is then noted anew, hour by hour.
  const mayGoOn = async (now: Context) => (await now.loaders.chats.load(chatId)) !== null;
  return Object.assign(events, { mayGoOn });
}

/** Pieces come without any reading of the chat. */
async function noteOpening(
  { noteReads }: Context,
  chatId: string,
  events: AsyncIterableIterator<ChatEvent>,
): Promise<void> {
  try {
    await noteReads("chat", [chatId]);
  } catch (error) {
    await events.return?.();
    throw error;
  }
}

@Resolver()
export class ChatEventsResolver {
  @Subscription(() => ChatEventUnion, {
    description:
      "Everything that happens in one chat. No cursor: snapshot first, then live. With a cursor: what was missed, then live.",
    subscribe: openChatEvents,
  })
  chatEvents(
    @Root() event: ChatEvent,
    @Arg("chatId", () => ID, { description: "The chat." }) _chatId: string,
    @Arg("after", () => String, {
      nullable: true,
      description:
        "The cursor of the last event that was received; a cursor that cannot be used means a refresh.",
    })
    _after: string | null | undefined,
    @Ctx() context: Context,
  ): ChatEventObject {
    return toEventObject(event, context);
  }
}

/** Only what needs the chat itself touches the context; pieces of text, the great majority, do not. */
export function toEventObject(event: ChatEvent, context: Context): ChatEventObject {
  const { cursor } = event;
  switch (event.type) {
    case "part": {
      const { sequence, role, partIndex } = event;
      const generation = toGeneration(event.generation);
      const piece = toPartPiece(event.piece);
      return { __typename: "ChatPartEvent", cursor, generation, sequence, role, partIndex, piece };
    }
    case "message": {
      const message = toChatMessage(event.message);
      const replacedGeneration = generationOf(event.message);
      return { __typename: "ChatMessageEvent", cursor, message, replacedGeneration };
    }
    case "status": {
      const { status, chatId } = event;
      return { __typename: "ChatStatusEvent", cursor, status, chat: () => demandChat(context, chatId) };
    }
    case "refresh": {
      const { reason, chatId } = event;
      return { __typename: "ChatRefreshEvent", cursor, reason, chat: () => demandChat(context, chatId) };
    }
    case "caught-up":
      return { __typename: "ChatCaughtUpEvent", cursor, replayedEvents: event.replayedEvents };
    case "preview-reset": {
      const generation = toGeneration(event.generation);
      return { __typename: "ChatPreviewResetEvent", cursor, generation, resetReason: event.reason };
    }
    case "error":
      return { __typename: "ChatErrorEvent", cursor, failure: toFailure(event.failure) };
    case "queue":
      return { __typename: "ChatQueueEvent", cursor, queuedMessages: event.queue.map(toQueuedMessage) };
    case "action-required": {
      const toolCalls = toPendingToolCalls(event.calls);
      return { __typename: "ChatActionRequiredEvent", cursor, toolCalls, deadline: event.deadline };
    }
    case "retry": {
      const generation = toGeneration(event.generation);
      return { __typename: "ChatRetryEvent", cursor, retry: toRetryState(event.retry), generation };
    }
    case "title":
      return { __typename: "ChatTitleEvent", cursor, title: event.title };
    case "diff-status": {
      const { chatId } = event;
      const diffStatus = () => context.loaders.diffStatuses.load(chatId);
      return { __typename: "ChatDiffStatusEvent", cursor, diffStatus };
    }
  }
}

function toGeneration(generation: DomainGeneration): Generation {
  const { attempt, startedAt = null } = generation;
  return { id: generationId(generation), attempt, startedAt };
}

/** The preview that a saved message replaces; null for what was never streamed. */
function generationOf(message: { generation: string | null }): Generation | null {
  const generation = message.generation === null ? null : parseGenerationId(message.generation);
  return generation && toGeneration(generation);
}
