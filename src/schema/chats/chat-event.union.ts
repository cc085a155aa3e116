/** What a subscriber of one chat is told. */
import { Field, ID, Int, InterfaceType, ObjectType, createUnionType } from "type-graphql";
import type { PreviewResetReason, RefreshReason } from "../../domain/chats/chat-stream.js";
import type { ChatStatus } from "../../domain/chats/chat-state.js";
import type { MessageRole } from "../../domain/chats/message-parts.js";
import type { Later } from "./chat.payloads.js";
import { Chat } from "./chat.type.js";
import { DiffStatus } from "../git/diff-status.type.js";
import {
  ChatStatusEnum,
  MessageRoleEnum,
  PreviewResetReasonEnum,
  RefreshReasonEnum,
} from "../common/enums.js";
import { ChatFailure, RetryState } from "./failure.type.js";
import { NoticePart, SourcePart, ToolCallPart, ToolResultPart } from "./message-part.union.js";
import { ChatMessage, QueuedMessage } from "./message.type.js";
import { DateTimeScalar } from "../scalars/date-time.js";

@InterfaceType("StreamEvent", { description: "Every event carries the cursor to resume after it." })
export abstract class StreamEvent {
  readonly __typename!: string;

  @Field(() => String, { description: "Pass it as `after` to go on behind this event." })
  cursor!: string;
}

@ObjectType("Generation", {
  simpleResolvers: true,
  description:
    "Which try of which step a preview belongs to. A new generation makes every older preview void.",
})
export class Generation {
  @Field(() => ID, {
    description: "Opaque; the saved message that this preview becomes carries the same id.",
  })
  id!: string;

  @Field(() => Int, { description: "Which try of the model call this is, counted from 1." })
  attempt!: number;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When this try began. Null where that is no longer known: of messages that are saved already, and of previews from before a return.",
  })
  startedAt!: number | null;
}

@ObjectType("TextDelta", { simpleResolvers: true, description: "More of a text part." })
export class TextDelta {
  readonly __typename!: "TextDelta";

  @Field(() => String, { description: "To be put behind what is there." })
  append!: string;
}

@ObjectType("ReasoningDelta", { simpleResolvers: true, description: "More of a reasoning part." })
export class ReasoningDelta {
  readonly __typename!: "ReasoningDelta";

  @Field(() => String, { description: "To be put behind what is there." })
  append!: string;
}

@ObjectType("ToolInputDelta", {
  simpleResolvers: true,
  description: "More of a tool call's arguments, as the JSON text that the model is writing.",
})
export class ToolInputDelta {
  readonly __typename!: "ToolInputDelta";

  @Field(() => ID, { description: "The call." })
  toolCallId!: string;

  @Field(() => String, { description: "The tool's name." })
  toolName!: string;

  @Field(() => String, { description: "To be put behind what is there; not JSON until the call part comes." })
  append!: string;
}

@ObjectType("ToolOutputDelta", {
  simpleResolvers: true,
  description:
    "More of what a running tool says. A bounded preview: the call's result takes the place of it all.",
})
export class ToolOutputDelta {
  readonly __typename!: "ToolOutputDelta";

  @Field(() => ID, { description: "The call." })
  toolCallId!: string;

  @Field(() => String, {
    description:
      "To be put behind what is there. A line in it tells how much is left out, where something is.",
  })
  append!: string;
}

export const PartPieceUnion = createUnionType({
  name: "PartPiece",
  description: "What a piece adds to a preview. May grow: ignore members that you do not know.",
  types: () =>
    [
      TextDelta,
      ReasoningDelta,
      ToolInputDelta,
      ToolOutputDelta,
      ToolCallPart,
      ToolResultPart,
      SourcePart,
      NoticePart,
    ] as const,
  resolveType: (piece) => piece.__typename,
});
export type PartPiece = typeof PartPieceUnion;

const event = (description: string) => ({ implements: StreamEvent, simpleResolvers: true, description });

@ObjectType(
  "ChatRefreshEvent",
  event("Throw away what you hold for this chat and read it again from `chat`."),
)
export class ChatRefreshEvent implements StreamEvent {
  readonly __typename!: "ChatRefreshEvent";
  cursor!: string;

  @Field(() => RefreshReasonEnum, { description: "Why." })
  reason!: RefreshReason;

  @Field(() => Chat, { description: "The chat as it is now." })
  chat!: Later<Chat>;
}

@ObjectType("ChatCaughtUpEvent", event("Replay is over; what follows is live."))
export class ChatCaughtUpEvent implements StreamEvent {
  readonly __typename!: "ChatCaughtUpEvent";
  cursor!: string;

  @Field(() => Int, { description: "How many events were told again." })
  replayedEvents!: number;
}

@ObjectType(
  "ChatMessageEvent",
  event("A message is now saved. Replaces the preview of `replacedGeneration`."),
)
export class ChatMessageEvent implements StreamEvent {
  readonly __typename!: "ChatMessageEvent";
  cursor!: string;

  @Field(() => ChatMessage, { description: "The message. May be one that is known already: replace it." })
  message!: ChatMessage;

  @Field(() => Generation, { nullable: true, description: "The preview that it replaces, if there was one." })
  replacedGeneration!: Generation | null;
}

@ObjectType(
  "ChatPartEvent",
  event("A piece of a message that is still being written. Not saved; may be thrown away."),
)
export class ChatPartEvent implements StreamEvent {
  readonly __typename!: "ChatPartEvent";
  cursor!: string;

  @Field(() => Generation, { description: "The preview that this belongs to." })
  generation!: Generation;

  @Field(() => Int, { description: "Counts 1, 2, 3… within the generation." })
  sequence!: number;

  @Field(() => MessageRoleEnum, { description: "Who speaks." })
  role!: MessageRole;

  @Field(() => Int, { description: "Which part of the message this adds to, counted from 0." })
  partIndex!: number;

  @Field(() => PartPieceUnion, { description: "What is added." })
  piece!: PartPiece;
}

@ObjectType("ChatPreviewResetEvent", event("Forget the preview of this generation."))
export class ChatPreviewResetEvent implements StreamEvent {
  readonly __typename!: "ChatPreviewResetEvent";
  cursor!: string;

  @Field(() => Generation, { description: "The generation whose preview is void." })
  generation!: Generation;

  @Field(() => PreviewResetReasonEnum, { description: "Why." })
  resetReason!: PreviewResetReason;
}

@ObjectType("ChatStatusEvent", event("The chat stands differently."))
export class ChatStatusEvent implements StreamEvent {
  readonly __typename!: "ChatStatusEvent";
  cursor!: string;

  @Field(() => ChatStatusEnum, { description: "The status at this point of the log." })
  status!: ChatStatus;

  @Field(() => Chat, { description: "The chat as it is now, which may be further on." })
  chat!: Later<Chat>;
}

@ObjectType("ChatRetryEvent", event("The model call failed and will be tried again."))
export class ChatRetryEvent implements StreamEvent {
  readonly __typename!: "ChatRetryEvent";
  cursor!: string;

  @Field(() => RetryState, { description: "When and why." })
  retry!: RetryState;

  @Field(() => Generation, { description: "The attempt that failed." })
  generation!: Generation;
}

@ObjectType("ChatErrorEvent", event("The turn failed for good."))
export class ChatErrorEvent implements StreamEvent {
  readonly __typename!: "ChatErrorEvent";
  cursor!: string;

  @Field(() => ChatFailure, { description: "Why." })
  failure!: ChatFailure;
}

@ObjectType("ChatQueueEvent", event("The queue has changed."))
export class ChatQueueEvent implements StreamEvent {
  readonly __typename!: "ChatQueueEvent";
  cursor!: string;

  @Field(() => [QueuedMessage], { description: "The whole queue, every time, in the order of saying." })
  queuedMessages!: QueuedMessage[];
}

@ObjectType(
  "ChatActionRequiredEvent",
  event(
    "The client must run these tools and answer with `submitToolResults`, before `deadline` if there is one.",
  ),
)
export class ChatActionRequiredEvent implements StreamEvent {
  readonly __typename!: "ChatActionRequiredEvent";
  cursor!: string;

  @Field(() => [ToolCallPart], { description: "The calls, in call order." })
  toolCalls!: ToolCallPart[];

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "After this the calls count as timed out; null = the client may take as long as it likes.",
  })
  deadline!: number | null;
}

@ObjectType("ChatTitleEvent", event("The chat has another title."))
export class ChatTitleEvent implements StreamEvent {
  readonly __typename!: "ChatTitleEvent";
  cursor!: string;

  @Field(() => String, { description: "The title from now on." })
  title!: string;
}

@ObjectType(
  "ChatDiffStatusEvent",
  event("How the chat's branch stands is shown differently, or may be out of date from now on."),
)
export class ChatDiffStatusEvent implements StreamEvent {
  readonly __typename!: "ChatDiffStatusEvent";
  cursor!: string;

  @Field(() => DiffStatus, {
    nullable: true,
    description: "As it is when this is told: never older than this point of the log.",
  })
  diffStatus!: Later<DiffStatus | null>;
}

export const ChatEventUnion = createUnionType({
  name: "ChatEvent",
  description: "Something that happened in a chat. May grow: ignore members that you do not know.",
  types: () =>
    [
      ChatRefreshEvent,
      ChatCaughtUpEvent,
      ChatMessageEvent,
      ChatPartEvent,
      ChatPreviewResetEvent,
      ChatStatusEvent,
      ChatRetryEvent,
      ChatErrorEvent,
      ChatQueueEvent,
      ChatActionRequiredEvent,
      ChatTitleEvent,
      ChatDiffStatusEvent,
    ] as const,
  resolveType: (told) => told.__typename,
});
export type ChatEventObject = typeof ChatEventUnion;
