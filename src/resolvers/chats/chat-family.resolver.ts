/** Links between a chat and its subagents. */
import type { ComplexityEstimatorArgs } from "graphql-query-complexity";
import { Ctx, FieldResolver, Resolver, Root } from "type-graphql";
import { MAX_FAMILY_SUBAGENTS } from "../../domain/chats/subagents.js";
import { Chat } from "../../schema/chats/chat.type.js";
import type { Context } from "../common/context.js";
import { demandChat } from "./message.resolver.js";
import { toChat } from "../common/shapes.js";

const mostSubagents = ({ childComplexity }: Pick<ComplexityEstimatorArgs, "childComplexity">) =>
  1 + MAX_FAMILY_SUBAGENTS * childComplexity;

@Resolver(() => Chat)
export class ChatFamilyResolver {
  @FieldResolver(() => Chat, {
    nullable: true,
    description: "The chat whose agent started this one as a subagent. Null if a user started it.",
  })
  parent(@Root() { parentChatId }: Chat, @Ctx() context: Context): Promise<Chat> | null {
    return parentChatId === null ? null : demandChat(context, parentChatId);
  }

  @FieldResolver(() => Chat, {
    description: "The top-level chat of a tree of subagents. The chat itself if a user started it.",
  })
  root(@Root() chat: Chat, @Ctx() context: Context): Promise<Chat> | Chat {
    return chat.rootChatId === chat.chatId ? chat : demandChat(context, chat.rootChatId);
  }

  @FieldResolver(() => [Chat], {
    description: `Subagents started by the chat's agent, oldest first, including archived ones. At most ${MAX_FAMILY_SUBAGENTS}.`,
    complexity: mostSubagents,
  })
  async subagents(@Root() chat: Chat, @Ctx() context: Context): Promise<Chat[]> {
    return (await context.loaders.subagents.load(chat.chatId)).map(toChat);
  }
}
