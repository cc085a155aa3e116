/** What has changed in the repositories that a chat works in: read, looked at anew, and followed. */
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
  if (!chat) throw forbidden("There is no such chat, or it is not yours to read.");
  const snapshots = context.gitSnapshots.subscribe({ chatId, workspaceId: chat.workspaceId });
  if (!snapshots)
    throw unavailable("Too many repositories are followed at this server now; try again later.");
  return new SubscriptionSource(snapshots, {
    // A snapshot is plain data of the workspace; nothing in it is for one viewer alone.
    audienceOf: () => "every_subscriber",
    mayContinue: async (now) => (await now.loaders.chats.load(chatId)) !== null,
  });
}

@Resolver(() => Chat)
export class ChatGitResolver {
  @FieldResolver(() => GitSnapshot, {
    nullable: true,
    description:
      "What differs from the last commit where the chat works. Slow and remote: null without a workspace, or when it cannot be had right now.",
  })
  git(@Root() chat: Chat, @Ctx() context: Context): Promise<GitSnapshot | null> {
    return context.gitSnapshots.read({ chatId: chat.chatId, workspaceId: chat.workspaceId });
  }

  @Mutation(() => RefreshChatGitPayload, {
    description: "Look at the chat's repositories now, and wait for what is seen.",
  })
  async refreshChatGit(
    @Arg("input", () => RefreshChatGitInput, { description: "The chat." }) input: RefreshChatGitInput,
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
      "The chat's repositories: as they are now, then whole again whenever something in them has changed. Who reads slowly gets only the newest.",
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
