/** What a subscriber of the viewer's list of chats is told. */
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

const CHAT = "The chat as it is now, which may be further on.";

/** Called by graphql-js when the field is selected; a chat of which only the id is wanted needs no more. */
export type ListedChat = (
  args: object,
  context: object,
  resolving: GraphQLResolveInfo,
) => Promise<Chat> | Pick<Chat, "__typename" | "id">;

const event = (description: string) => ({ implements: StreamEvent, simpleResolvers: true, description });

@ObjectType(
  "ChatListRefreshEvent",
  event(
    "Throw away what you hold of the list and read it again with `chats`; what follows was not in it yet, or is told twice.",
  ),
)
export class ChatListRefreshEvent implements StreamEvent {
  readonly __typename!: "ChatListRefreshEvent";
  cursor!: string;

  @Field(() => RefreshReasonEnum, { description: "Why." })
  reason!: RefreshReason;
}

@ObjectType("ChatListCaughtUpEvent", event("Replay is over; what follows is live."))
export class ChatListCaughtUpEvent implements StreamEvent {
  readonly __typename!: "ChatListCaughtUpEvent";
  cursor!: string;

  @Field(() => Int, { description: "How many events were told again." })
  replayedEvents!: number;
}

@ObjectType("ChatCreatedEvent", event("A chat is in the list: a new one, or one taken out of the archive."))
export class ChatCreatedEvent implements StreamEvent {
  readonly __typename!: "ChatCreatedEvent";
  cursor!: string;

  @Field(() => Chat, { description: CHAT })
  chat!: ListedChat;
}

@ObjectType("ChatRemovedEvent", event("Deleted, archived, or no longer visible to the viewer."))
export class ChatRemovedEvent implements StreamEvent {
  readonly __typename!: "ChatRemovedEvent";
  cursor!: string;

  @Field(() => ID, { description: "The chat that was removed." })
  chatId!: string;

  @Field(() => ChatRemovalReasonEnum, { description: "Why." })
  removalReason!: ChatRemovalReason;
}

@ObjectType("ChatTitleChangedEvent", event("A chat has another title."))
export class ChatTitleChangedEvent implements StreamEvent {
  readonly __typename!: "ChatTitleChangedEvent";
  cursor!: string;

  @Field(() => Chat, { description: CHAT })
  chat!: ListedChat;

  @Field(() => String, { description: "The title at this point of the log." })
  title!: string;
}

@ObjectType("ChatStatusChangedEvent", event("A chat stands differently, or was read."))
export class ChatStatusChangedEvent implements StreamEvent {
  readonly __typename!: "ChatStatusChangedEvent";
  cursor!: string;

  @Field(() => Chat, { description: CHAT })
  chat!: ListedChat;

  @Field(() => ChatStatusEnum, { description: "The status at this point of the log." })
  status!: ChatStatus;

  @Field(() => Boolean, {
    description:
      "Whether there is an answer that the viewer has not seen. When a chat is read, an event says so, at once or shortly after this one.",
  })
  isUnread!: boolean | Later<boolean>;
}

@ObjectType("ChatDiffStatusChangedEvent", event("How a chat's branch stands is shown differently."))
export class ChatDiffStatusChangedEvent implements StreamEvent {
  readonly __typename!: "ChatDiffStatusChangedEvent";
  cursor!: string;

  @Field(() => Chat, { description: CHAT })
  chat!: ListedChat;

  @Field(() => DiffStatus, {
    nullable: true,
    description: "As it is when this is told: never older than this point of the log.",
  })
  diffStatus!: Later<DiffStatus | null>;
}

export const ChatListEventUnion = createUnionType({
  name: "ChatListEvent",
  description:
    "Something that happened to the viewer's chats. May grow: ignore members that you do not know.",
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
  resolveType: (told) => told.__typename,
});
export type ChatListEventObject = typeof ChatListEventUnion;
