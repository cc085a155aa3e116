/** Reading chats, and what a chat links to. */
import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from "type-graphql";
import { ChatFilterInput } from "../schema/chat.input.js";
import { Chat, ChatConnection } from "../schema/chat.type.js";
import { type Connection, PageArguments } from "../schema/connection.js";
import { type ChatOrder, ChatOrderEnum } from "../schema/enums.js";
import { ChatMessage, ChatMessageConnection, QueuedMessage } from "../schema/message.type.js";
import { ModelConfig } from "../schema/model.type.js";
import { User } from "../schema/user.type.js";
import { Workspace } from "../schema/workspace.type.js";
import { type ChatFilter, listChats } from "../store/chats.js";
import type { Context } from "./context.js";
import { findModelConfig, findUser } from "./links.js";
import { MESSAGE_LIST, newestFirst, toConnection, toPageRequest } from "./page-requests.js";
import { databaseId, optionalDatabaseId } from "./public-ids.js";
import { toChat, toChatMessage, toQueuedMessage, toWorkspace } from "./shapes.js";

const ORDERS = {
  recently_updated: { order: "updated", rules: newestFirst("chats.updated") },
  recently_created: { order: "created", rules: newestFirst("chats.created") },
} as const;

@Resolver(() => Chat)
export class ChatResolver {
  @Query(() => Chat, {
    nullable: true,
    description: "One chat; null when it does not exist or is not the viewer's to see.",
  })
  async chat(
    @Arg("id", () => ID, { description: "The chat." }) id: string,
    @Ctx() context: Context,
  ): Promise<Chat | null> {
    const record = await context.loaders.chats.load(databaseId("chat", id, "id"));
    return record && toChat(record);
  }

  @Query(() => ChatConnection, {
    description: "The viewer's chats, newest first; 25 unless asked otherwise.",
  })
  async chats(
    @Arg("filter", () => ChatFilterInput, { nullable: true, description: "Which chats." })
    filter: ChatFilterInput | null | undefined,
    @Arg("orderBy", () => ChatOrderEnum, {
      nullable: true,
      defaultValue: "recently_updated",
      description: "What newest means.",
    })
    orderBy: ChatOrder | null,
    @Args(() => PageArguments) page: PageArguments,
    @Ctx() context: Context,
  ): Promise<Connection<Chat>> {
    const { order, rules } = ORDERS[orderBy ?? "recently_updated"];
    const wanted = { ...readFilter(filter), order };
    const found = await listChats(context.database, context.viewer, wanted, toPageRequest(rules, page));
    return toConnection(rules, found, toChat);
  }

  @FieldResolver(() => User, { description: "Who started it." })
  owner(@Root() chat: Chat, @Ctx() context: Context): Promise<User> {
    return findUser(context, chat.ownerId);
  }

  @FieldResolver(() => Workspace, {
    nullable: true,
    description: "Where its agent works; null for a talk without a workspace.",
  })
  async workspace(@Root() chat: Chat, @Ctx() context: Context): Promise<Workspace | null> {
    if (chat.workspaceId === null) return null;
    const record = await context.loaders.workspaces.load(chat.workspaceId);
    return record && toWorkspace(record);
  }

  @FieldResolver(() => ModelConfig, {
    nullable: true,
    description: "The model that it chose; null when the deployment's default is asked at each turn.",
  })
  modelConfig(@Root() chat: Chat, @Ctx() context: Context): Promise<ModelConfig | null> | null {
    return findModelConfig(context, chat.modelConfigId);
  }

  @FieldResolver(() => ChatMessageConnection, {
    description:
      "Newest last; the last 50 unless asked otherwise. Page backwards with `last` and `before`; inserts never shift a page.",
  })
  async messages(
    @Root() chat: Chat,
    @Args(() => PageArguments) args: PageArguments,
    @Ctx() context: Context,
  ): Promise<Connection<ChatMessage>> {
    const page = toPageRequest(MESSAGE_LIST, args);
    const found = await context.loaders.messagePages.load({ chatId: chat.chatId, page });
    return toConnection(MESSAGE_LIST, found, toChatMessage);
  }

  @FieldResolver(() => [QueuedMessage], {
    description: "Waiting to be said, in the order they will be said; at most 50.",
  })
  async queuedMessages(@Root() chat: Chat, @Ctx() context: Context): Promise<QueuedMessage[]> {
    const rows = await context.loaders.queues.load(chat.chatId);
    return rows.map(toQueuedMessage);
  }
}

function readFilter(filter: ChatFilterInput | null | undefined): ChatFilter {
  if (filter == null) return { archived: false };
  return {
    archived: filter.archived,
    search: filter.search,
    statuses: filter.statuses,
    isUnread: filter.isUnread,
    labels: Object.fromEntries((filter.labels ?? []).map(({ key, value }) => [key, value])),
    ownerId: optionalDatabaseId("user", filter.ownerId, "filter.ownerId"),
    workspaceId: optionalDatabaseId("ws", filter.workspaceId, "filter.workspaceId"),
  };
}
