/** Costs: sums over model calls. */
import { Field, Int, ObjectType } from "type-graphql";
import type { DateRange } from "../../domain/usage/date-range.js";
import { connectionType, type Connection, type Edge, PageInfo } from "../common/connection.js";
import { BigIntScalar } from "../scalars/big-int.js";
import { MicrosScalar } from "../scalars/micros.js";

const TOTAL = "Total cost. Excludes calls of models without a price.";
const CALLS = "Number of model calls, including compactions, titles and those of deleted messages.";
const RUNTIME = "Wall-clock time of the model calls and the tools they requested, in milliseconds.";

@ObjectType("TokenTotals", { simpleResolvers: true, description: "Total numbers of tokens." })
export class TokenTotals {
  @Field(() => BigIntScalar, { description: "Input tokens, excluding cache reads and writes." })
  input!: bigint;

  @Field(() => BigIntScalar, { description: "Output tokens, including reasoning." })
  output!: bigint;

  @Field(() => BigIntScalar, { description: "Input tokens read from the vendor's cache." })
  cacheRead!: bigint;

  @Field(() => BigIntScalar, { description: "Input tokens written to the vendor's cache." })
  cacheWrite!: bigint;
}

@ObjectType("ModelCost", { simpleResolvers: true, description: "The cost of one model." })
export class ModelCost {
  /** Database ID. */
  modelConfigId!: string;

  @Field(() => MicrosScalar, { description: TOTAL })
  totalMicros!: bigint;

  @Field(() => Int, { description: CALLS })
  messageCount!: number;

  @Field(() => TokenTotals, { description: "Tokens used." })
  tokens!: TokenTotals;

  @Field(() => BigIntScalar, { description: RUNTIME })
  runtimeMs!: bigint;
}

@ObjectType("ChatCost", { simpleResolvers: true, description: "Cost of a chat, including its subagents." })
export class ChatCost {
  /** Database ID. */
  chatId!: string;

  @Field(() => MicrosScalar, { description: TOTAL })
  totalMicros!: bigint;

  @Field(() => Int, { description: CALLS })
  messageCount!: number;

  @Field(() => TokenTotals, { description: "Tokens used." })
  tokens!: TokenTotals;

  @Field(() => BigIntScalar, { description: RUNTIME })
  runtimeMs!: bigint;
}

export const ChatCostConnection = connectionType(ChatCost, "ChatCost");

@ObjectType("CostSummary", { simpleResolvers: true, description: "A summary of spending." })
export class CostSummary {
  /** What the summary covers: a user's chats in a time range, or one chat. */
  scope!: { userId: string; range: DateRange } | { chatId: string };

  @Field(() => MicrosScalar, { description: TOTAL })
  totalMicros!: bigint;

  @Field(() => Int, { description: "Number of calls with a known cost, including free ones." })
  pricedMessageCount!: number;

  @Field(() => Int, { description: "Number of calls that used tokens of a model without a price." })
  unpricedMessageCount!: number;

  @Field(() => TokenTotals, { description: "Tokens used." })
  tokens!: TokenTotals;

  @Field(() => BigIntScalar, { description: RUNTIME })
  runtimeMs!: bigint;

  @Field(() => [ModelCost], { description: "Cost by model, most expensive first." })
  byModel!: ModelCost[];
}

@ObjectType("UserCost", { simpleResolvers: true, description: "The cost of a user's chats." })
export class UserCost {
  /** Database ID. */
  userId!: string;

  @Field(() => MicrosScalar, { description: TOTAL })
  totalMicros!: bigint;

  @Field(() => Int, {
    description:
      "Number of chats with a model call in the time range. A chat and its subagents count as one.",
  })
  chatCount!: number;

  @Field(() => Int, { description: CALLS })
  messageCount!: number;

  @Field(() => TokenTotals, { description: "Tokens used." })
  tokens!: TokenTotals;

  @Field(() => BigIntScalar, { description: RUNTIME })
  runtimeMs!: bigint;
}

@ObjectType("UserCostEdge", { simpleResolvers: true, description: "One UserCost in a list." })
export class UserCostEdge implements Edge<UserCost> {
  @Field(() => String, { description: "A cursor for use in pagination." })
  cursor!: string;

  @Field(() => UserCost, { description: "The item at the end of the edge." })
  node!: UserCost;
}

/** Like the types made by `connectionType`, with one more field. */
@ObjectType("UserCostConnection", { simpleResolvers: true, description: "A page of a list of UserCost." })
export class UserCostConnection implements Connection<UserCost> {
  @Field(() => [UserCostEdge], { description: "A list of edges." })
  edges!: UserCostEdge[];

  @Field(() => [UserCost], { description: "A list of nodes." })
  nodes!: UserCost[];

  @Field(() => PageInfo, { description: "Information to aid in pagination." })
  pageInfo!: PageInfo;

  @Field(() => MicrosScalar, { description: "Total cost of all users in the list, not only of this page." })
  totalMicros!: bigint;
}
