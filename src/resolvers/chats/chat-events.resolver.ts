/** The event stream of a chat, for users who may read the chat. */
import { Arg, Ctx, ID, Resolver, Root } from "type-graphql";
import { parseGenerationId } from "../../domain/chats/chat-events.js";
import { audienceOfChatEvent, type ChatEvent } from "../../domain/chats/chat-stream.js";
import { SubscriptionSource } from "../../domain/common/subscription-source.js";
import {
  type ChatEventObject,
  ChatEventUnion,
  type Generation,
} from "../../schema/chats/chat-event.union.js";
import type { Context } from "../common/context.js";
import { forbidden } from "../common/errors.js";
import { LiveSubscription, type Opening } from "./live-subscription.js";
import { demandChat } from "./message.resolver.js";
import { toGeneration, toPartEvent } from "./part-events.js";
import { databaseId } from "../common/public-ids.js";
import {
  toChatMessage,
  toFailure,
  toPendingToolCalls,
  toQueuedMessage,
  toRetryState,
} from "../common/shapes.js";

type Args = { chatId: string; after?: string | null };

async function openChatEvents({
  args,
  context,
}: Opening<Args>): Promise<SubscriptionSource<ChatEvent, Context>> {
  const chatId = databaseId("chat", args.chatId, "chatId");
  const events = await context.chatEvents.subscribe(context.viewer, chatId, args.after ?? null);
  if (!events) throw forbidden("The chat does not exist or is not visible to you.");
  await noteOpening(context, chatId, events);
  return new SubscriptionSource(events, {
    audienceOf: audienceOfChatEvent,
    // Loading the chat also records the read of a chat that is not the viewer's own, once an hour.
    mayContinue: async (now) => (await now.loaders.chats.load(chatId)) !== null,
  });
}

/** Records the read explicitly: deltas are delivered without loading the chat. */
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
  @LiveSubscription(() => ChatEventUnion, {
    description:
      "All events of a chat. Without a cursor, starts with a snapshot, followed by live events. With a cursor, starts with the missed events.",
    subscribe: openChatEvents,
  })
  chatEvents(
    @Root() event: ChatEvent,
    @Arg("chatId", () => ID, { description: "The chat." }) _chatId: string,
    @Arg("after", () => String, {
      nullable: true,
      description:
        "The cursor of the last event received. With a cursor that cannot be used, the stream starts with a refresh event.",
    })
    _after: string | null | undefined,
    @Ctx() context: Context,
  ): ChatEventObject {
    return toEventObject(event, context);
  }
}

/** Events for all subscribers are converted without using the context: see `audienceOfChatEvent`. */
export function toEventObject(event: ChatEvent, context: Context): ChatEventObject {
  const { cursor } = event;
  switch (event.type) {
    case "part":
      return toPartEvent(event);
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

/** The generation whose preview a saved message replaces; null if it was never streamed. */
function generationOf(message: { generation: string | null }): Generation | null {
  const generation = message.generation === null ? null : parseGenerationId(message.generation);
  return generation && toGeneration(generation);
}
