/** Objects linked to messages and queued messages. */
import { Ctx, FieldResolver, Resolver, Root } from "type-graphql";
import { Chat } from "../../schema/chats/chat.type.js";
import { type MessagePart, MessagePartUnion } from "../../schema/chats/message-part.union.js";
import { ChatMessage, QueuedMessage } from "../../schema/chats/message.type.js";
import { ModelConfig } from "../../schema/models/model.type.js";
import { User } from "../../schema/users/user.type.js";
import type { Context } from "../common/context.js";
import { forbidden } from "../common/errors.js";
import { findModelConfig, findUser } from "../common/links.js";
import { toChat, toMessagePart } from "../common/shapes.js";

/** A separate statement that reads a megabyte of text or more. */
const FULL_PARTS_COST = 25;

/** The chat of an object that was just readable. Throws FORBIDDEN if it no longer is. */
export async function demandChat(context: Context, chatId: string): Promise<Chat> {
  const record = await context.loaders.chats.load(chatId);
  if (!record) throw forbidden("The chat does not exist or is no longer visible to you.");
  return toChat(record);
}

@Resolver(() => ChatMessage)
export class ChatMessageResolver {
  @FieldResolver(() => Chat, { description: "The chat the message belongs to." })
  chat(@Root() message: ChatMessage, @Ctx() context: Context): Promise<Chat> {
    return demandChat(context, message.chatId);
  }

  @FieldResolver(() => User, {
    nullable: true,
    description: "The user who wrote the message. Null for all other messages.",
  })
  author(@Root() message: ChatMessage, @Ctx() context: Context): Promise<User> | null {
    return message.authorId === null ? null : findUser(context, message.authorId);
  }

  @FieldResolver(() => ModelConfig, {
    nullable: true,
    description: "The model that wrote the message, or that the user requested with it.",
  })
  modelConfig(@Root() message: ChatMessage, @Ctx() context: Context): Promise<ModelConfig | null> | null {
    return findModelConfig(context, message.modelConfigId);
  }
}

@Resolver(() => QueuedMessage)
export class QueuedMessageResolver {
  @FieldResolver(() => [MessagePartUnion], {
    nullable: true,
    complexity: FULL_PARTS_COST,
    description:
      "The complete content, for editing. Null once the message has left the queue. Loaded on request: query it for one message at a time with `node`, and use `parts` in lists and events.",
  })
  async fullParts(
    @Root() message: QueuedMessage,
    @Ctx() context: Context,
  ): Promise<readonly MessagePart[] | null> {
    if (!message.isTruncated) return message.parts;
    const parts = await context.loaders.queuedContents.load(message.queuedId);
    return parts && parts.map(toMessagePart);
  }

  @FieldResolver(() => User, { description: "The user who sent the message." })
  author(@Root() message: QueuedMessage, @Ctx() context: Context): Promise<User> {
    return findUser(context, message.authorId);
  }

  @FieldResolver(() => ModelConfig, {
    nullable: true,
    description: "The model requested with the message. Null for the chat's model.",
  })
  modelConfig(@Root() message: QueuedMessage, @Ctx() context: Context): Promise<ModelConfig | null> | null {
    return findModelConfig(context, message.modelConfigId);
  }
}
