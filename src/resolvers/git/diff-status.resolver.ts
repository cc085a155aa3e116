/** How the branch that a chat works on stands at its git host: what is known of it, asked anew, and its diff. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import type { DiffRefresh } from "../../domain/git/diff-limits.js";
import type { CommandRefusal } from "../../commands/chats/chat-commands.js";
import { Chat } from "../../schema/chats/chat.type.js";
import {
  Diff,
  DiffStatus,
  RefreshChatDiffInput,
  RefreshChatDiffPayload,
} from "../../schema/git/diff-status.type.js";
import type { Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";
import { toUserError } from "../common/user-errors.js";

/** A host is asked up to a handful of questions. */
const HOST_COST = 25;

@Resolver(() => Chat)
export class DiffStatusResolver {
  @FieldResolver(() => DiffStatus, {
    nullable: true,
    description:
      "How the branch that the chat works on stands at its git host, as it was last told; null while the chat has not fetched or pushed any.",
  })
  diffStatus(@Root() chat: Chat, @Ctx() context: Context): Promise<DiffStatus | null> {
    return context.loaders.diffStatuses.load(chat.chatId);
  }

  @FieldResolver(() => Diff, {
    nullable: true,
    complexity: HOST_COST,
    description:
      "The changes of that branch. Slow and remote: null without a branch or a token of the chat's owner for its host, or when it cannot be had right now.",
  })
  diff(@Root() chat: Chat, @Ctx() context: Context): Promise<Diff | null> {
    return context.branchDiffs.read(chat.chatId);
  }

  @Mutation(() => RefreshChatDiffPayload, {
    complexity: HOST_COST,
    description:
      "Ask the git host now how the chat's branch stands, with the token of the chat's owner, and wait for the answer.",
  })
  async refreshChatDiff(
    @Arg("input", () => RefreshChatDiffInput, { description: "The chat." }) input: RefreshChatDiffInput,
    @Ctx() context: Context,
  ): Promise<RefreshChatDiffPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    const chat = await context.loaders.chats.load(chatId);
    const refusal: CommandRefusal | null = chat
      ? refusalOf(await context.branchDiffs.refresh(chatId))
      : { code: "NOT_FOUND", message: "There is no such chat." };
    if (refusal) return { diffStatus: null, userErrors: [toUserError({ ...refusal, path: ["chatId"] })] };
    // Something else in the same operation may have read it before.
    context.loaders.forget();
    return { diffStatus: await context.loaders.diffStatuses.load(chatId), userErrors: [] };
  }
}

/** Null when the host has answered. */
function refusalOf(refresh: DiffRefresh): CommandRefusal | null {
  switch (refresh.outcome) {
    case "refreshed":
      return null;
    case "no-branch":
      return { code: "INVALID", message: "This chat has not fetched or pushed a branch yet." };
    case "no-token":
      return { code: "INVALID", message: `The chat's owner has not connected ${refresh.host}.` };
    case "no-host":
      return { code: "INVALID", message: "The chat's branch is at no git host that Parley can ask." };
    case "failed":
      return { code: "UNAVAILABLE", what: "git-host", message: refresh.message };
  }
}
