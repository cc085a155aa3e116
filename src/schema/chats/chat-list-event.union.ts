/** The events of the viewer's chat list. */
import type { GraphQLResolveInfo } from "graphql";
import { Field, ID, Int, ObjectType, createUnionType } from "type-graphql";
import type { ChatStatus } from "../../domain/chats/chat-state.js";
import type { RefreshReason } from "../../domain/chats/chat-stream.js";
import type { ChatRemovalReason } from "../../domain/chats/list-events.js";
import { StreamEvent } from "./chat-event.union.js";
import type { Later } from "./chat.payloads.js";
import { Chat } from "./chat.type.js";
import { DiffStatus } from "../git/diff-status.type.js";
import { ChatRemovalReasonEnum, ChatStatusEnum, RefreshReasonEnum } from "../common/enums.js";

const CHAT = "The chat in its current state, which may be newer than this event.";

/** Called by graphql-js when the field is selected. A selection of nothing but the ID needs no further load. */
export type ListedChat = (
  args: object,
  context: object,
  resolving: GraphQLResolveInfo,
) => Promise<Chat> | Pick<Chat, "__typename" | "id">;

const event = (description: string) => ({ implements: StreamEvent, simpleResolvers: true, description });

@ObjectType(
  "ChatListRefreshEvent",
  event(
    "The client's copy of the list is outdated: discard it and query `chats` again. Events that follow may already be contained in that result.",
  ),
)
export class ChatListRefreshEvent implements StreamEvent {
  readonly __typename!: "ChatListRefreshEvent";
  cursor!: string;

  @Field(() => RefreshReasonEnum, { description: "Why the client's copy is outdated." })
  reason!: RefreshReason;
}

@ObjectType(
  "ChatListCaughtUpEvent",
  event("All missed events have been replayed. The events that follow are live."),
)
export class ChatListCaughtUpEvent implements StreamEvent {
  readonly __typename!: "ChatListCaughtUpEvent";
  cursor!: string;

  @Field(() => Int, { description: "Number of events that were replayed." })
  replayedEvents!: number;
}

@ObjectType("ChatCreatedEvent", event("A chat was added to the list: created, or restored from the archive."))
export class ChatCreatedEvent implements StreamEvent {
  readonly __typename!: "ChatCreatedEvent";
  cursor!: string;

  @Field(() => Chat, { description: CHAT })
  chat!: ListedChat;
}

@ObjectType(
  "ChatRemovedEvent",
  event("A chat was removed from the list: deleted, archived, or no longer visible to the viewer."),
)
export class ChatRemovedEvent implements StreamEvent {
  readonly __typename!: "ChatRemovedEvent";
  cursor!: string;

  @Field(() => ID, { description: "ID of the removed chat." })
  chatId!: string;

  @Field(() => ChatRemovalReasonEnum, { description: "Why the chat was removed." })
  removalReason!: ChatRemovalReason;
}

@ObjectType("ChatTitleChangedEvent", event("A chat's title changed."))
export class ChatTitleChangedEvent implements StreamEvent {
  readonly __typename!: "ChatTitleChangedEvent";
  cursor!: string;

  @Field(() => Chat, { description: CHAT })
  chat!: ListedChat;

  @Field(() => String, { description: "The title at this point of the event log." })
  title!: string;
}

@ObjectType("ChatStatusChangedEvent", event("A chat's status changed, or the chat was read."))
export class ChatStatusChangedEvent implements StreamEvent {
  readonly __typename!: "ChatStatusChangedEvent";
  cursor!: string;

  @Field(() => Chat, { description: CHAT })
  chat!: ListedChat;

  @Field(() => ChatStatusEnum, { description: "The status at this point of the event log." })
  status!: ChatStatus;

  @Field(() => Boolean, {
    description:
      "Whether the chat has a response that the viewer has not seen. Another event follows when the chat is read.",
  })
  isUnread!: boolean | Later<boolean>;
}

@ObjectType("ChatDiffStatusChangedEvent", event("The displayed diff status of a chat changed."))
export class ChatDiffStatusChangedEvent implements StreamEvent {
  readonly __typename!: "ChatDiffStatusChangedEvent";
  cursor!: string;

  @Field(() => Chat, { description: CHAT })
  chat!: ListedChat;

  @Field(() => DiffStatus, {
    nullable: true,
    description: "The diff status when the event is delivered, which may be newer than this event.",
  })
  diffStatus!: Later<DiffStatus | null>;
}

export const ChatListEventUnion = createUnionType({
  name: "ChatListEvent",
  description: "An event of the viewer's chat list. New members may be added: ignore unknown ones.",
  types: () =>
    [
      ChatListRefreshEvent,
      ChatListCaughtUpEvent,
      ChatCreatedEvent,
      ChatRemovedEvent,
      ChatTitleChangedEvent,
      ChatStatusChangedEvent,
      ChatDiffStatusChangedEvent,
    ] as const,
  resolveType: (event) => event.__typename,
});
export type ChatListEventObject = typeof ChatListEventUnion;
