/** Uncommitted changes in a chat's repositories: query, rescan and subscription. */
import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from "type-graphql";
import type { GitSnapshot as DomainSnapshot } from "../../domain/git/git-snapshot.js";
import { SubscriptionSource } from "../../domain/common/subscription-source.js";
import { Chat } from "../../schema/chats/chat.type.js";
import { GitSnapshot, RefreshChatGitInput, RefreshChatGitPayload } from "../../schema/git/git.type.js";
import type { Context } from "../common/context.js";
import { forbidden, unavailable } from "../common/errors.js";
import { LiveSubscription, type Opening } from "../chats/live-subscription.js";
import { databaseId } from "../common/public-ids.js";
import { toUserError, type UserErrorObject } from "../common/user-errors.js";

type Args = { chatId: string };

async function openGitSnapshots({
  args,
  context,
}: Opening<Args>): Promise<SubscriptionSource<DomainSnapshot, Context>> {
  const chatId = databaseId("chat", args.chatId, "chatId");
  const chat = await context.loaders.chats.load(chatId);
  if (!chat) throw forbidden("The chat does not exist or is not visible to you.");
  const snapshots = context.gitSnapshots.subscribe({ chatId, workspaceId: chat.workspaceId });
  if (!snapshots) throw unavailable("Too many repositories are being watched on this server; retry later.");
  return new SubscriptionSource(snapshots, {
    // A snapshot is plain data, the same for all viewers.
    audienceOf: () => "every_subscriber",
    mayContinue: async (now) => (await now.loaders.chats.load(chatId)) !== null,
  });
}

@Resolver(() => Chat)
export class ChatGitResolver {
  @FieldResolver(() => GitSnapshot, {
    nullable: true,
    description:
      "Uncommitted changes in the chat's repositories. Slow, as it is read from the workspace. Null without a workspace or if the workspace is not available.",
  })
  git(@Root() chat: Chat, @Ctx() context: Context): Promise<GitSnapshot | null> {
    return context.gitSnapshots.read({ chatId: chat.chatId, workspaceId: chat.workspaceId });
  }

  @Mutation(() => RefreshChatGitPayload, {
    description: "Scans the chat's repositories and waits for the result.",
  })
  async refreshChatGit(
    @Arg("input", () => RefreshChatGitInput, { description: "The parameters of the mutation." })
    input: RefreshChatGitInput,
    @Ctx() context: Context,
  ): Promise<RefreshChatGitPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    const chat = await context.loaders.chats.load(chatId);
    if (!chat) return refused("NOT_FOUND", "There is no such chat.");
    const { workspaceId } = chat;
    if (workspaceId === null) return refused("INVALID", "This chat has no workspace.");
    const git = await context.gitSnapshots.refresh({ chatId, workspaceId });
    if (!git) return refused("UNAVAILABLE", "The workspace cannot be reached right now.");
    return { git, userErrors: [] };
  }

  @LiveSubscription(() => GitSnapshot, {
    description:
      "The chat's repositories: their current state, then a complete snapshot after each change. A slow subscriber only receives the latest one.",
    subscribe: openGitSnapshots,
  })
  gitSnapshots(
    @Root() snapshot: DomainSnapshot,
    @Arg("chatId", () => ID, { description: "The chat." }) _chatId: string,
  ): GitSnapshot {
    return snapshot;
  }
}

function refused(
  code: "NOT_FOUND" | "INVALID" | "UNAVAILABLE",
  message: string,
): { git: null; userErrors: UserErrorObject[] } {
  return { git: null, userErrors: [toUserError({ code, message, path: ["chatId"] })] };
}
