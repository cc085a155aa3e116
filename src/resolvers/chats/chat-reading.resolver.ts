/** Whether chats are unread, and marking them as read. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import { MarkChatReadInput, MarkChatReadPayload } from "../../schema/chats/chat-reading.type.js";
import { Chat } from "../../schema/chats/chat.type.js";
import { changed } from "./chat-outcomes.js";
import type { Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";

@Resolver(() => Chat)
export class ChatReadingResolver {
  @FieldResolver(() => Boolean, {
    complexity: 1,
    description:
      "Whether the chat has a response that its owner has not seen. A chat counts as read while its owner is subscribed to its `chatEvents`.",
  })
  isUnread(@Root() chat: Chat, @Ctx() context: Context): Promise<boolean> {
    return context.loaders.unread.load(chat.chatId);
  }

  @Mutation(() => MarkChatReadPayload, {
    description:
      "Marks one of the viewer's own chats as read, for clients that do not subscribe to its events.",
  })
  async markChatRead(
    @Arg("input", () => MarkChatReadInput, { description: "The parameters of the mutation." })
    input: MarkChatReadInput,
    @Ctx() context: Context,
  ): Promise<MarkChatReadPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    return changed(context, await context.commands.markChatRead(context.viewer, chatId));
  }
}
