/** How full a chat's context is, and what people may do about it. */
import { Field, ID, InputType, Int, ObjectType } from "type-graphql";
import type { Later } from "./chat.payloads.js";
import { Chat } from "./chat.type.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("ContextUsage", {
  simpleResolvers: true,
  description: "How much of the model's context the chat fills, by its last model call.",
})
export class ContextUsage {
  @Field(() => Int, { description: "Tokens that the next call has to read at least." })
  usedTokens!: number;

  @Field(() => Boolean, {
    description: "True when that is estimated from the text: the vendor of the call did not report it.",
  })
  isEstimated!: boolean;

  @Field(() => Int, { nullable: true, description: "Tokens that fit; null = not known yet." })
  limitTokens!: number | null;

  @Field(() => Int, {
    description: "Share of the limit, in percent, at which history is summarised; 100 = never.",
  })
  compactionThresholdPercent!: number;
}

@InputType("CompactChatInput", { description: "A chat to summarise." })
export class CompactChatInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("CompactChatPayload", {
  simpleResolvers: true,
  description: "The chat, whose summary is on its way.",
})
export class CompactChatPayload {
  @Field(() => Chat, { nullable: true, description: "The chat as it is now; null when nothing was done." })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}

@InputType("ClearChatContextInput", { description: "A chat whose model is to start afresh." })
export class ClearChatContextInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("ClearChatContextPayload", {
  simpleResolvers: true,
  description: "The chat, with a fresh context.",
})
export class ClearChatContextPayload {
  @Field(() => Chat, { nullable: true, description: "The chat as it is now; null when nothing was done." })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}
