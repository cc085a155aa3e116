/** Payloads of the mutations on chats. Their object fields are functions, so that objects are only loaded when selected. */
import { Field, ID, ObjectType } from "type-graphql";
import { Chat } from "./chat.type.js";
import { ChatMessage, QueuedMessage } from "./message.type.js";
import { UserError } from "../common/user-error.interface.js";

const CHAT = "The chat after this change. Null if the mutation was refused.";
const ERRORS = "Why the mutation was refused. Empty on success.";
const CURSOR = "The first event cursor that includes this change.";

/** Called by graphql-js when the field is selected. */
export type Later<T> = () => Promise<T>;

@ObjectType("CreateChatPayload", { simpleResolvers: true, description: "The new chat." })
export class CreateChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => String, {
    nullable: true,
    description:
      "The beginning of the chat's event log. Passed to `chatEvents(after:)`, it delivers every event of the chat exactly once, including its first message, without a snapshot.",
  })
  eventCursor!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("SendChatMessagePayload", {
  simpleResolvers: true,
  description: "The sent message: either `message` or `queuedMessage` is set on success.",
})
export class SendChatMessagePayload {
  @Field(() => ChatMessage, {
    nullable: true,
    description: "The message, if it was added to the history at once.",
  })
  message!: ChatMessage | null;

  @Field(() => QueuedMessage, { nullable: true, description: "The message, if it was queued." })
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
  description: "The message that replaces the edited one. It is a new object.",
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
  description: "The chat, which is being interrupted. An idle chat does not change.",
})
export class InterruptChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("RetryChatPayload", {
  simpleResolvers: true,
  description: "The chat, whose failed turn is being retried.",
})
export class RetryChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => String, { nullable: true, description: CURSOR })
  eventCursor!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("ArchiveChatPayload", { simpleResolvers: true, description: "The archived chat." })
export class ArchiveChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UnarchiveChatPayload", {
  simpleResolvers: true,
  description: "The restored chat.",
})
export class UnarchiveChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("PromoteQueuedMessagePayload", {
  simpleResolvers: true,
  description: "The chat whose message is sent next.",
})
export class PromoteQueuedMessagePayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteQueuedMessagePayload", {
  simpleResolvers: true,
  description: "The result of `deleteQueuedMessage`.",
})
export class DeleteQueuedMessagePayload {
  @Field(() => ID, {
    nullable: true,
    description: "ID of the removed message. Null if the mutation was refused.",
  })
  deletedId!: string | null;

  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("SubmitToolResultsPayload", {
  simpleResolvers: true,
  description: "The chat, whose turn continues.",
})
export class SubmitToolResultsPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => String, { nullable: true, description: CURSOR })
  eventCursor!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
