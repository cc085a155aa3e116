/** The event stream of the viewer's chat list. */
import { type GraphQLResolveInfo, Kind } from "graphql";
import { Arg, Ctx, Resolver, Root } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import { audienceOfListEvent, type ListEvent } from "../../domain/chats/list-events.js";
import { SubscriptionSource } from "../../domain/common/subscription-source.js";
import {
  type ChatListEventObject,
  ChatListEventUnion,
  type ListedChat,
} from "../../schema/chats/chat-list-event.union.js";
import type { Context } from "../common/context.js";
import { LiveSubscription, type Opening } from "./live-subscription.js";
import { demandChat } from "./message.resolver.js";

type Args = { after?: string | null };

async function openChatListEvents({
  args,
  context,
}: Opening<Args>): Promise<SubscriptionSource<ListEvent, Context>> {
  const events = await context.chatListEvents.subscribe(context.viewer, args.after ?? null);
  return new SubscriptionSource(events, {
    audienceOf: audienceOfListEvent,
    // A list belongs to its viewer, who may read it as long as the session lasts.
    mayContinue: () => Promise.resolve(true),
  });
}

@Resolver()
export class ChatListEventsResolver {
  @LiveSubscription(() => ChatListEventUnion, {
    description:
      "Events of the viewer's chat list. Without a cursor, starts with a refresh event, followed by live events. With a cursor, starts with the missed events.",
    subscribe: openChatListEvents,
  })
  chatListEvents(
    @Root() event: ListEvent,
    @Arg("after", () => String, {
      nullable: true,
      description:
        "The cursor of the last event received. With a cursor that cannot be used, the stream starts with a refresh event.",
    })
    _after: string | null | undefined,
    @Ctx() context: Context,
  ): ChatListEventObject {
    return toListEventObject(event, context);
  }
}

function toListEventObject(event: ListEvent, context: Context): ChatListEventObject {
  const { cursor } = event;
  switch (event.type) {
    case "refresh":
      return { __typename: "ChatListRefreshEvent", cursor, reason: event.reason };
    case "caught-up":
      return { __typename: "ChatListCaughtUpEvent", cursor, replayedEvents: event.replayedEvents };
    case "created":
      return { __typename: "ChatCreatedEvent", cursor, chat: listedChat(context, event.chatId) };
    case "removed": {
      const { chatId, reason: removalReason } = event;
      return { __typename: "ChatRemovedEvent", cursor, chatId: encodeId("chat", chatId), removalReason };
    }
    case "title": {
      const { chatId, title } = event;
      const chat = listedChat(context, chatId);
      return { __typename: "ChatTitleChangedEvent", cursor, chat, title };
    }
    case "diff-status": {
      const { chatId } = event;
      const chat = listedChat(context, chatId);
      const diffStatus = () => context.loaders.diffStatuses.load(chatId);
      return { __typename: "ChatDiffStatusChangedEvent", cursor, chat, diffStatus };
    }
    case "status": {
      const { chatId, status } = event;
      const chat = listedChat(context, chatId);
      const isUnread = event.isUnread ?? (() => context.loaders.unread.load(chatId));
      return { __typename: "ChatStatusChangedEvent", cursor, chat, status, isUnread };
    }
  }
}

/** Most sidebars select only the ID, which needs no load. */
function listedChat(context: Context, chatId: string): ListedChat {
  return (_args, _context, resolving) =>
    asksOnlyForId(resolving)
      ? { __typename: "Chat", id: encodeId("chat", chatId) }
      : demandChat(context, chatId);
}

function asksOnlyForId({ fieldNodes }: GraphQLResolveInfo): boolean {
  const selected = fieldNodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
  return selected.every(
    (node) => node.kind === Kind.FIELD && (node.name.value === "id" || node.name.value === "__typename"),
  );
}
