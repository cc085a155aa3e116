/** What was spent: sums over model calls. */
import { Field, Int, ObjectType } from "type-graphql";
import type { DateRange } from "../../domain/usage/date-range.js";
import { connectionType, type Connection, type Edge, PageInfo } from "../common/connection.js";
import { BigIntScalar } from "../scalars/big-int.js";
import { MicrosScalar } from "../scalars/micros.js";

const TOTAL = "What all of it cost; calls of unpriced models are not in it.";
const CALLS = "Model calls: answers, summaries and titles, those of deleted messages too.";
const RUNTIME = "Wall time of the calls and of the tools that they asked for, in milliseconds.";

@ObjectType("TokenTotals", { simpleResolvers: true, description: "Sums of tokens." })
export class TokenTotals {
  @Field(() => BigIntScalar, { description: "Input tokens, without cache reads and writes." })
  input!: bigint;

  @Field(() => BigIntScalar, { description: "Output tokens, reasoning included." })
  output!: bigint;

  @Field(() => BigIntScalar, { description: "Input tokens that came from the vendor's cache." })
  cacheRead!: bigint;

  @Field(() => BigIntScalar, { description: "Input tokens that went into the vendor's cache." })
  cacheWrite!: bigint;
}

@ObjectType("ModelCost", { simpleResolvers: true, description: "What one model cost." })
export class ModelCost {
  /** The database's id. */
  modelConfigId!: string;

  @Field(() => MicrosScalar, { description: TOTAL })
  totalMicros!: bigint;

  @Field(() => Int, { description: CALLS })
  messageCount!: number;

  @Field(() => TokenTotals, { description: "What was used." })
  tokens!: TokenTotals;

  @Field(() => BigIntScalar, { description: RUNTIME })
  runtimeMs!: bigint;
}

@ObjectType("ChatCost", { simpleResolvers: true, description: "What one chat cost, its subagents included." })
export class ChatCost {
  /** The database's id. */
  chatId!: string;

  @Field(() => MicrosScalar, { description: TOTAL })
  totalMicros!: bigint;

  @Field(() => Int, { description: CALLS })
  messageCount!: number;

  @Field(() => TokenTotals, { description: "What was used." })
  tokens!: TokenTotals;

  @Field(() => BigIntScalar, { description: RUNTIME })
  runtimeMs!: bigint;
}

export const ChatCostConnection = connectionType(ChatCost, "ChatCost");

@ObjectType("CostSummary", { simpleResolvers: true, description: "What was spent." })
export class CostSummary {
  /** Whose it is: a person's chats in a range, or one chat. */
  scope!: { userId: string; range: DateRange } | { chatId: string };

  @Field(() => MicrosScalar, { description: TOTAL })
  totalMicros!: bigint;

  @Field(() => Int, { description: "Calls whose cost is known, free ones included." })
  pricedMessageCount!: number;

  @Field(() => Int, { description: "Calls that used tokens of a model without a price." })
  unpricedMessageCount!: number;

  @Field(() => TokenTotals, { description: "What was used." })
  tokens!: TokenTotals;

  @Field(() => BigIntScalar, { description: RUNTIME })
  runtimeMs!: bigint;

  @Field(() => [ModelCost], { description: "The same by model, the dearest first." })
  byModel!: ModelCost[];
}

@ObjectType("UserCost", { simpleResolvers: true, description: "What one person's chats cost." })
export class UserCost {
  /** The database's id. */
  userId!: string;

  @Field(() => MicrosScalar, { description: TOTAL })
  totalMicros!: bigint;

  @Field(() => Int, {
    description: "Chats with a model call in the range; a chat and its subagents are one.",
  })
  chatCount!: number;

  @Field(() => Int, { description: CALLS })
  messageCount!: number;

  @Field(() => TokenTotals, { description: "What was used." })
  tokens!: TokenTotals;

  @Field(() => BigIntScalar, { description: RUNTIME })
  runtimeMs!: bigint;
}

@ObjectType("UserCostEdge", { simpleResolvers: true, description: "One UserCost in a list." })
export class UserCostEdge implements Edge<UserCost> {
  @Field(() => String, { description: "The node's place in this list." })
  cursor!: string;

  @Field(() => UserCost, { description: "The object itself." })
  node!: UserCost;
}

/** As `connectionType` makes them, with one field more. */
@ObjectType("UserCostConnection", { simpleResolvers: true, description: "A page of a list of UserCost." })
export class UserCostConnection implements Connection<UserCost> {
  @Field(() => [UserCostEdge], { description: "The page's objects with their cursors." })
  edges!: UserCostEdge[];

  @Field(() => [UserCost], { description: "The page's objects alone." })
  nodes!: UserCost[];

  @Field(() => PageInfo, { description: "Where this page stands." })
  pageInfo!: PageInfo;

  @Field(() => MicrosScalar, { description: "What everybody in the list cost together, not only the page." })
  totalMicros!: bigint;
}
