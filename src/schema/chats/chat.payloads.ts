/** What the mutations on chats answer. Objects are read only when they are asked for: their fields are functions. */
import { Field, ID, ObjectType } from "type-graphql";
import { Chat } from "./chat.type.js";
import { ChatMessage, QueuedMessage } from "./message.type.js";
import { UserError } from "../common/user-error.interface.js";

const CHAT = "The chat after this change; null when it was refused.";
const ERRORS = "Why nothing was done; empty on success.";
const CURSOR = "First event cursor at which this write is visible.";

/** Called by graphql-js when the field is selected. */
export type Later<T> = () => Promise<T>;

@ObjectType("CreateChatPayload", { simpleResolvers: true, description: "The new chat." })
export class CreateChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => String, {
    nullable: true,
    description:
      "The chat's beginning: `chatEvents(after:)` with it tells everything of the chat exactly once, its first message included; no snapshot is needed.",
  })
  eventCursor!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("SendChatMessagePayload", {
  simpleResolvers: true,
  description: "Exactly one of `message` and `queuedMessage` is set on success.",
})
export class SendChatMessagePayload {
  @Field(() => ChatMessage, { nullable: true, description: "The message, when it entered history at once." })
  message!: ChatMessage | null;

  @Field(() => QueuedMessage, { nullable: true, description: "The message, when it has to wait." })
  queuedMessage!: QueuedMessage | null;

  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => String, { nullable: true, description: CURSOR })
  eventCursor!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("EditChatMessagePayload", {
  simpleResolvers: true,
  description: "The message that took the old one's place; it is a new object.",
})
export class EditChatMessagePayload {
  @Field(() => ChatMessage, { nullable: true, description: "The new message." })
  message!: ChatMessage | null;

  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => String, { nullable: true, description: CURSOR })
  eventCursor!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("InterruptChatPayload", {
  simpleResolvers: true,
  description: "The chat, asked to stop. A chat at rest is left as it is.",
})
export class InterruptChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("RetryChatPayload", {
  simpleResolvers: true,
  description: "The chat, whose failed turn is tried again.",
})
export class RetryChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => String, { nullable: true, description: CURSOR })
  eventCursor!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("ArchiveChatPayload", { simpleResolvers: true, description: "The chat, put away." })
export class ArchiveChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UnarchiveChatPayload", {
  simpleResolvers: true,
  description: "The chat, back from the archive.",
})
export class UnarchiveChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("PromoteQueuedMessagePayload", {
  simpleResolvers: true,
  description: "The chat whose message comes next.",
})
export class PromoteQueuedMessagePayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteQueuedMessagePayload", {
  simpleResolvers: true,
  description: "The id of what no longer waits.",
})
export class DeleteQueuedMessagePayload {
  @Field(() => ID, { nullable: true, description: "The message that was taken back." })
  deletedId!: string | null;

  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("SubmitToolResultsPayload", {
  simpleResolvers: true,
  description: "The chat, on its way again.",
})
export class SubmitToolResultsPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => String, { nullable: true, description: CURSOR })
  eventCursor!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
