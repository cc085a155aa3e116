/** A chat's context usage, and manual compaction. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import { contextLimitOf, contextTokens } from "../../domain/models/context-window.js";
import {
  ClearChatContextInput,
  ClearChatContextPayload,
  CompactChatInput,
  CompactChatPayload,
  ContextUsage,
} from "../../schema/chats/chat-context.type.js";
import { Chat } from "../../schema/chats/chat.type.js";
import { changed } from "./chat-outcomes.js";
import type { Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";

const INPUT = { description: "The chat." };

@Resolver(() => Chat)
export class ChatContextResolver {
  @FieldResolver(() => ContextUsage, {
    nullable: true,
    description:
      "How full the model's context window is. Null before the first response and after a compaction.",
  })
  async contextUsage(@Root() chat: Chat, @Ctx() context: Context): Promise<ContextUsage | null> {
    const last = await context.loaders.lastUsages.load(chat.chatId);
    if (!last) return null;
    const config = last.modelConfigId && (await context.loaders.modelConfigs.load(last.modelConfigId));
    return {
      usedTokens: contextTokens(last.usage),
      isEstimated: last.usage.isEstimated ?? false,
      limitTokens: config ? contextLimitOf(config) : null,
      compactionThresholdPercent: config ? config.compactionThresholdPercent : 100,
    };
  }

  @Mutation(() => CompactChatPayload, {
    description: "Compacts the chat's history now instead of when the context window fills up.",
  })
  async compactChat(
    @Arg("input", () => CompactChatInput, INPUT) input: CompactChatInput,
    @Ctx() context: Context,
  ): Promise<CompactChatPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    return changed(context, await context.commands.compactChat(context.viewer, chatId));
  }

  @Mutation(() => ClearChatContextPayload, {
    description: "Clears the model's context: the history stays visible, but the model no longer sees it.",
  })
  async clearChatContext(
    @Arg("input", () => ClearChatContextInput, INPUT) input: ClearChatContextInput,
    @Ctx() context: Context,
  ): Promise<ClearChatContextPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    return changed(context, await context.commands.clearChatContext(context.viewer, chatId));
  }
}
