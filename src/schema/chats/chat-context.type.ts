/** A chat's context usage, and the mutations that clear or compact the context. */
import { Field, ID, InputType, Int, ObjectType } from "type-graphql";
import type { Later } from "./chat.payloads.js";
import { Chat } from "./chat.type.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("ContextUsage", {
  simpleResolvers: true,
  description: "How much of the model's context window the chat uses, according to its last model call.",
})
export class ContextUsage {
  @Field(() => Int, { description: "Minimum number of input tokens of the next model call." })
  usedTokens!: number;

  @Field(() => Boolean, {
    description: "Whether the number was estimated from the text because the vendor did not report it.",
  })
  isEstimated!: boolean;

  @Field(() => Int, { nullable: true, description: "Size of the context window in tokens. Null if unknown." })
  limitTokens!: number | null;

  @Field(() => Int, {
    description:
      "Share of the context limit, in percent, at which the history is compacted. 100 means never.",
  })
  compactionThresholdPercent!: number;
}

@InputType("CompactChatInput", { description: "Input of `compactChat`." })
export class CompactChatInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("CompactChatPayload", {
  simpleResolvers: true,
  description: "The chat, which is being compacted.",
})
export class CompactChatPayload {
  @Field(() => Chat, {
    nullable: true,
    description: "The chat in its current state. Null if nothing was done.",
  })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}

@InputType("ClearChatContextInput", { description: "Input of `clearChatContext`." })
export class ClearChatContextInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("ClearChatContextPayload", {
  simpleResolvers: true,
  description: "The chat with a cleared context.",
})
export class ClearChatContextPayload {
  @Field(() => Chat, {
    nullable: true,
    description: "The chat in its current state. Null if nothing was done.",
  })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}
