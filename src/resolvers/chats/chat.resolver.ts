/** Queries for chats, and the objects linked to a chat. */
import type { GraphQLResolveInfo } from "graphql";
import { Arg, Args, Ctx, FieldResolver, ID, Info, Query, Resolver, Root } from "type-graphql";
import type { ChatFilterInput } from "../../schema/chats/chat.input.js";
import { ChatListArguments } from "../../schema/chats/chat-list.args.js";
import { Chat, ChatConnection } from "../../schema/chats/chat.type.js";
import { type Connection, PageArguments } from "../../schema/common/connection.js";
import { ChatMessage, ChatMessageConnection, QueuedMessage } from "../../schema/chats/message.type.js";
import { ModelConfig } from "../../schema/models/model.type.js";
import { User } from "../../schema/users/user.type.js";
import { Workspace } from "../../schema/workspaces/workspace.type.js";
import { type ChatFilter, type ChatRecord, listChats } from "../../store/chats/chats.js";
import type { Context } from "../common/context.js";
import { findModelConfig, findUser } from "../common/links.js";
import { MESSAGE_LIST, newestFirst, toConnection, toPageRequest } from "../common/page-requests.js";
import { databaseId, optionalDatabaseId } from "../common/public-ids.js";
import { fieldsSelectedAt } from "../common/selected-fields.js";
import { toChat, toChatMessage, toQueuedMessage, toWorkspace } from "../common/shapes.js";

const ORDERS = {
  recently_updated: { order: "updated", rules: newestFirst("chats.updated") },
  recently_created: { order: "created", rules: newestFirst("chats.created") },
} as const;

@Resolver(() => Chat)
export class ChatResolver {
  @Query(() => Chat, {
    nullable: true,
    description: "Looks up a chat by ID. Null if it does not exist or is not visible to the viewer.",
  })
  async chat(
    @Arg("id", () => ID, { description: "The chat." }) id: string,
    @Ctx() context: Context,
  ): Promise<Chat | null> {
    const record = await context.loaders.chats.load(databaseId("chat", id, "id"));
    return record && toChat(record);
  }

  @Query(() => ChatConnection, {
    description: "The viewer's chats, sorted by `orderBy`. Default page size: 25.",
  })
  async chats(
    @Args(() => ChatListArguments) { filter, orderBy, ...page }: ChatListArguments,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<Chat>> {
    const { order, rules } = ORDERS[orderBy ?? "recently_updated"];
    const wanted = { ...readFilter(filter), order };
    const found = await listChats(context.database, context.viewer, wanted, toPageRequest(rules, page));
    await noteListing(
      context,
      found.rows.map(({ row }) => row),
      info,
    );
    return toConnection(rules, found, toChat);
  }

  @FieldResolver(() => User, { description: "The user who created the chat." })
  owner(@Root() chat: Chat, @Ctx() context: Context): Promise<User> {
    return findUser(context, chat.ownerId);
  }

  @FieldResolver(() => Workspace, {
    nullable: true,
    description: "The workspace the chat's agent works in. Null for chats without a workspace.",
  })
  async workspace(@Root() chat: Chat, @Ctx() context: Context): Promise<Workspace | null> {
    if (chat.workspaceId === null) return null;
    const record = await context.loaders.workspaces.load(chat.workspaceId);
    return record && toWorkspace(record);
  }

  @FieldResolver(() => ModelConfig, {
    nullable: true,
    description: "The model chosen for the chat. Null if each turn uses the deployment's default.",
  })
  modelConfig(@Root() chat: Chat, @Ctx() context: Context): Promise<ModelConfig | null> | null {
    return findModelConfig(context, chat.modelConfigId);
  }

  @FieldResolver(() => ChatMessageConnection, {
    description:
      "The chat's messages, oldest first. Returns the last 50 by default. Page backwards with `last` and `before`; new messages never shift a page.",
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
    description: "Messages waiting to be sent, in the order in which they will be sent. At most 50.",
  })
  async queuedMessages(@Root() chat: Chat, @Ctx() context: Context): Promise<QueuedMessage[]> {
    const rows = await context.loaders.queues.load(chat.chatId);
    return rows.map(toQueuedMessage);
  }
}

/** Fields shown in lists: a selection of these alone is audited as a listing, not as a read. */
const LISTED: ReadonlySet<string> = new Set([
  ...["__typename", "id", "title", "status", "labels", "owner", "isUnread", "eventCursor"],
  ...["createdAt", "updatedAt", "archivedAt"],
]);

/** All chats belong to the same user. */
async function noteListing(
  { viewer, noteReads }: Context,
  rows: readonly ChatRecord[],
  info: GraphQLResolveInfo,
): Promise<void> {
  const ownerId = rows[0]?.ownerId;
  if (ownerId === undefined || ownerId === viewer.userId) return;
  const asked = [...fieldsSelectedAt(info, ["nodes"]), ...fieldsSelectedAt(info, ["edges", "node"])];
  if (asked.every((field) => LISTED.has(field))) return noteReads("user", [ownerId]);
  return noteReads(
    "chat",
    rows.map(({ id }) => id),
  );
}

function readFilter(filter: ChatFilterInput | null | undefined): ChatFilter {
  if (filter == null) return { archived: false };
  return {
    archived: filter.archived,
    search: filter.search,
    statuses: filter.statuses,
    isUnread: filter.isUnread,
    includeSubagents: filter.includeSubagents,
    labels: Object.fromEntries((filter.labels ?? []).map(({ key, value }) => [key, value])),
    ownerId: optionalDatabaseId("user", filter.ownerId, "filter.ownerId"),
    workspaceId: optionalDatabaseId("ws", filter.workspaceId, "filter.workspaceId"),
  };
}
