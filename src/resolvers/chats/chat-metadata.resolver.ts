/** Chat metadata, and the summary of the last turn shown in lists. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import { turnSummary } from "../../domain/chats/turn-summary.js";
import {
  RegenerateChatTitleInput,
  RegenerateChatTitlePayload,
  UpdateChatInput,
  UpdateChatPayload,
} from "../../schema/chats/chat-metadata.type.js";
import { Chat } from "../../schema/chats/chat.type.js";
import { changed, refused } from "./chat-outcomes.js";
import type { Context } from "../common/context.js";
import { readLabels, readTitle } from "../common/inputs.js";
import { databaseId, optionalDatabaseIds } from "../common/public-ids.js";
import { type UserErrorObject, invalid } from "../common/user-errors.js";

/** As much as any other remote call. */
const MODEL_CALL_COST = 25;
const INPUT = { description: "The parameters of the mutation." };

@Resolver(() => Chat)
export class ChatMetadataResolver {
  @FieldResolver(() => String, {
    nullable: true,
    complexity: 1,
    description:
      "The beginning of the model's last response, as one line of plain text with at most 100 characters. Null if there is none.",
  })
  async lastTurnSummary(@Root() chat: Chat, @Ctx() context: Context): Promise<string | null> {
    const parts = await context.loaders.lastAnswers.load(chat.chatId);
    return (parts && turnSummary(parts)) || null;
  }

  @Mutation(() => UpdateChatPayload, {
    description: "Changes a chat's title, labels, model or MCP servers.",
  })
  async updateChat(
    @Arg("input", () => UpdateChatInput, INPUT) input: UpdateChatInput,
    @Ctx() context: Context,
  ): Promise<UpdateChatPayload> {
    const problems: UserErrorObject[] = [];
    const { chatId, title, modelConfigId, labels, mcpServerIds } = input;
    if (title === null) problems.push(invalid("The title must not be null.", "title"));
    const wanted = {
      chatId: databaseId("chat", chatId, "chatId"),
      title: readTitle(title, problems),
      labels: labels === null ? [] : readLabels(labels, problems),
      modelConfigId:
        modelConfigId == null ? modelConfigId : databaseId("model", modelConfigId, "modelConfigId"),
      mcpServerIds: optionalDatabaseIds("mcp", mcpServerIds, "mcpServerIds"),
    };
    if (problems.length > 0) return refused(problems);
    return changed(context, await context.commands.updateChat(context.viewer, wanted));
  }

  @Mutation(() => RegenerateChatTitlePayload, {
    complexity: MODEL_CALL_COST,
    description: "Has a model generate a title from the whole chat. Takes up to 30 seconds.",
  })
  async regenerateChatTitle(
    @Arg("input", () => RegenerateChatTitleInput, INPUT) input: RegenerateChatTitleInput,
    @Ctx() context: Context,
  ): Promise<RegenerateChatTitlePayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    return changed(context, await context.commands.regenerateChatTitle(context.viewer, chatId));
  }
}
