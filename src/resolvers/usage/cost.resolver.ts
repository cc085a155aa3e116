/** Costs of the viewer, of a chat and, for admins, of all users. */
import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from "type-graphql";
import { ALL_TIME, type DateRange } from "../../domain/usage/date-range.js";
import { demandAdmin } from "../../domain/users/viewer.js";
import { Chat } from "../../schema/chats/chat.type.js";
import { type Connection, ForwardPageArguments } from "../../schema/common/connection.js";
import {
  ChatCost,
  ChatCostConnection,
  CostSummary,
  ModelCost,
  type TokenTotals,
  UserCost,
  UserCostConnection,
} from "../../schema/usage/cost.type.js";
import { DateRangeInput } from "../../schema/usage/date-range.input.js";
import { ModelConfig } from "../../schema/models/model.type.js";
import { SignedInViewer, User } from "../../schema/users/user.type.js";
import {
  addSpending,
  listChatSpending,
  listUserSpending,
  readUserSpending,
  type Spending,
  type SpendingOfChat,
  type SpendingOfModel,
  type SpendingOfUser,
} from "../../store/usage/costs.js";
import { containing } from "../../store/common/pages.js";
import type { Context } from "../common/context.js";
import { readDateRange } from "./date-range.js";
import { findUser } from "../common/links.js";
import { type ListRules, toConnection, toPageRequest } from "../common/page-requests.js";
import { demandChat } from "../chats/message.resolver.js";
import { toModelConfig } from "../models/model-shape.js";

/** Most expensive first, by microdollars and ID. */
function dearestFirst(order: string): ListRules {
  const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  return { order, startsAt: "first", defaultSize: 25, keyForm: /^\d{1,18}$/, idForm };
}

const CHAT_COSTS = dearestFirst("chat-costs");
const USER_COSTS = dearestFirst("user-costs");
const RANGE = { description: "A half-open time range: `from` is included, `to` is not." };

@Resolver(() => SignedInViewer)
export class ViewerCostResolver {
  @FieldResolver(() => CostSummary, { description: "Cost of the viewer's chats in a time range." })
  async cost(
    @Arg("range", () => DateRangeInput, RANGE) input: DateRangeInput,
    @Ctx() { database, viewer }: Context,
  ): Promise<CostSummary> {
    const scope = { userId: viewer.userId, range: knownTime(input) };
    return toSummary(scope, await readUserSpending(database, scope.userId, scope.range));
  }

  @Query(() => UserCostConnection, {
    description: "Cost of each user's chats in a time range, most expensive first. Admins only.",
  })
  async userCosts(
    @Arg("range", () => DateRangeInput, RANGE) input: DateRangeInput,
    @Arg("search", () => String, {
      nullable: true,
      description: "Only users whose username or display name contains this text.",
    })
    search: string | null | undefined,
    @Args(() => ForwardPageArguments) page: ForwardPageArguments,
    @Ctx() { database, viewer }: Context,
  ): Promise<UserCostConnection> {
    demandAdmin(viewer);
    const wanted = { range: knownTime(input), pattern: search ? containing(search) : null };
    const found = await listUserSpending(database, wanted, toPageRequest(USER_COSTS, page));
    return { ...toConnection(USER_COSTS, found, toUserCost), totalMicros: found.totalMicros };
  }
}

@Resolver(() => Chat)
export class ChatCostResolver {
  @FieldResolver(() => CostSummary, {
    description: "Cost of the chat so far, including its subagents. For a subagent, its own cost only.",
  })
  async cost(@Root() { chatId }: Chat, @Ctx() { loaders }: Context): Promise<CostSummary> {
    return toSummary({ chatId }, await loaders.chatSpending.load(chatId));
  }
}

@Resolver(() => CostSummary)
export class CostSummaryResolver {
  @FieldResolver(() => ChatCostConnection, {
    description: "Cost by chat, most expensive first. A chat and its subagents count as one.",
  })
  async byChat(
    @Root() { scope }: CostSummary,
    @Args(() => ForwardPageArguments) args: ForwardPageArguments,
    @Ctx() { database, loaders }: Context,
  ): Promise<Connection<ChatCost>> {
    const page = toPageRequest(CHAT_COSTS, args);
    if ("userId" in scope)
      return toConnection(CHAT_COSTS, await listChatSpending(database, scope, page), toChatCost);
    const spending = addSpending(await loaders.chatSpending.load(scope.chatId));
    const row = { rootChatId: scope.chatId, ...spending };
    const cursor = { key: spending.totalMicros.toString(), id: scope.chatId };
    const rows = spending.messageCount === 0 || page.after !== null ? [] : [{ cursor, row }];
    const only = { rows, hasPreviousPage: page.after !== null, hasNextPage: false };
    return toConnection(CHAT_COSTS, only, toChatCost);
  }
}

@Resolver(() => ModelCost)
export class ModelCostResolver {
  @FieldResolver(() => ModelConfig, {
    nullable: true,
    description: "The model. Null if its configuration no longer exists.",
  })
  async modelConfig(@Root() cost: ModelCost, @Ctx() context: Context): Promise<ModelConfig | null> {
    const record = await context.loaders.modelConfigs.load(cost.modelConfigId);
    return record && toModelConfig(record, context);
  }
}

@Resolver(() => ChatCost)
export class ChatCostLinksResolver {
  @FieldResolver(() => Chat, { description: "The chat." })
  chat(@Root() { chatId }: ChatCost, @Ctx() context: Context): Promise<Chat> {
    return demandChat(context, chatId);
  }
}

@Resolver(() => UserCost)
export class UserCostResolver {
  @FieldResolver(() => User, { description: "The user." })
  user(@Root() { userId }: UserCost, @Ctx() context: Context): Promise<User> {
    return findUser(context, userId);
  }
}

/** Nothing is stored outside the range of the database's timestamps. */
function knownTime(input: DateRangeInput): DateRange {
  const { from, to } = readDateRange(input, "range") ?? ALL_TIME;
  return { from: Math.max(from, ALL_TIME.from), to: Math.min(to, ALL_TIME.to) };
}

function toSummary(scope: CostSummary["scope"], models: SpendingOfModel[]): CostSummary {
  const total = addSpending(models);
  const { totalMicros, pricedMessageCount, unpricedMessageCount, runtimeMs } = total;
  const byModel = models.map(({ modelConfigId, ...spending }) => ({ modelConfigId, ...toCost(spending) }));
  const tokens = toTokens(total);
  return { scope, totalMicros, pricedMessageCount, unpricedMessageCount, runtimeMs, tokens, byModel };
}

function toCost(spending: Spending) {
  const { totalMicros, messageCount, runtimeMs } = spending;
  return { totalMicros, messageCount, runtimeMs, tokens: toTokens(spending) };
}

function toTokens(spending: Spending): TokenTotals {
  return {
    input: spending.inputTokens,
    output: spending.outputTokens,
    cacheRead: spending.cacheReadTokens,
    cacheWrite: spending.cacheWriteTokens,
  };
}

function toChatCost(row: SpendingOfChat): ChatCost {
  return { chatId: row.rootChatId, ...toCost(row) };
}

function toUserCost(row: SpendingOfUser): UserCost {
  return { userId: row.userId, chatCount: row.chatCount, ...toCost(row) };
}
