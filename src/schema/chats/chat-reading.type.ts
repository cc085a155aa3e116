/** Marking chats as read. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { Later } from "./chat.payloads.js";
import { Chat } from "./chat.type.js";
import { UserError } from "../common/user-error.interface.js";

@InputType("MarkChatReadInput", { description: "Input of `markChatRead`." })
export class MarkChatReadInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("MarkChatReadPayload", { simpleResolvers: true, description: "The chat, marked as read." })
export class MarkChatReadPayload {
  @Field(() => Chat, {
    nullable: true,
    description: "The chat after this change. Null if the mutation was refused.",
  })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}
