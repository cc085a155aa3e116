/** Saying that a chat was read. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import type { Later } from "./chat.payloads.js";
import { Chat } from "./chat.type.js";
import { UserError } from "../common/user-error.interface.js";

@InputType("MarkChatReadInput", { description: "A chat of the viewer's own that they have seen." })
export class MarkChatReadInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("MarkChatReadPayload", { simpleResolvers: true, description: "The chat, read up to now." })
export class MarkChatReadPayload {
  @Field(() => Chat, { nullable: true, description: "The chat after this change; null when it was refused." })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}
