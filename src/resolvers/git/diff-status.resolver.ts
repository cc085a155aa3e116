/** The diff status of a chat's branch, its refresh, and the diff itself. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import type { DiffRefresh } from "../../domain/git/branch-diffs.js";
import type { CommandRefusal } from "../../commands/common/command-result.js";
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

/** Takes a handful of requests to the Git host. */
const HOST_COST = 25;

@Resolver(() => Chat)
export class DiffStatusResolver {
  @FieldResolver(() => DiffStatus, {
    nullable: true,
    description:
      "Status of the chat's branch on its Git host, as last fetched. Null until the chat has fetched or pushed a branch.",
  })
  diffStatus(@Root() chat: Chat, @Ctx() context: Context): Promise<DiffStatus | null> {
    return context.loaders.diffStatuses.load(chat.chatId);
  }

  @FieldResolver(() => Diff, {
    nullable: true,
    complexity: HOST_COST,
    description:
      "The diff of the chat's branch on its Git host. Slow, as it is fetched from the host. Null without a branch, if the chat's owner has no token for the host, or if the host is not available.",
  })
  diff(@Root() chat: Chat, @Ctx() context: Context): Promise<Diff | null> {
    return context.branchDiffs.read(chat.chatId);
  }

  @Mutation(() => RefreshChatDiffPayload, {
    complexity: HOST_COST,
    description:
      "Fetches the status of the chat's branch from the Git host with the token of the chat's owner, and waits for the result.",
  })
  async refreshChatDiff(
    @Arg("input", () => RefreshChatDiffInput, { description: "The parameters of the mutation." })
    input: RefreshChatDiffInput,
    @Ctx() context: Context,
  ): Promise<RefreshChatDiffPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    const chat = await context.loaders.chats.load(chatId);
    const refusal: CommandRefusal | null = chat
      ? refusalOf(await context.branchDiffs.refresh(chatId))
      : { code: "NOT_FOUND", message: "There is no such chat." };
    if (refusal) return { diffStatus: null, userErrors: [toUserError({ ...refusal, path: ["chatId"] })] };
    // Another field of the same operation may have cached it.
    context.loaders.forget();
    return { diffStatus: await context.loaders.diffStatuses.load(chatId), userErrors: [] };
  }
}

/** Null on success. */
function refusalOf(refresh: DiffRefresh): CommandRefusal | null {
  switch (refresh.outcome) {
    case "refreshed":
      return null;
    case "no-branch":
      return { code: "INVALID", message: "This chat has not fetched or pushed a branch yet." };
    case "no-token":
      return { code: "INVALID", message: `The chat's owner has not connected ${refresh.host}.` };
    case "no-host":
      return { code: "INVALID", message: "The chat's branch is not on a Git host supported by Parley." };
    case "failed":
      return { code: "UNAVAILABLE", what: "git-host", message: refresh.message };
  }
}
