/** Chat metadata, which can be changed at any time, even during a turn. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { ChatLabelInput } from "./chat.input.js";
import type { Later } from "./chat.payloads.js";
import { Chat } from "./chat.type.js";
import { UserError } from "../common/user-error.interface.js";

const CHAT = "The chat after this change. Null if the mutation was refused.";
const ERRORS = "Why the mutation was refused. Empty on success.";

@InputType("UpdateChatInput", {
  description:
    "Input of `updateChat`. Fields that are absent do not change. Archived chats can be updated, too.",
})
export class UpdateChatInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "The chat's title: 1 to 200 characters. No longer replaced by generated titles. Must not be null.",
  })
  title?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: "The model to use from the next turn on. Null for the deployment's default.",
  })
  modelConfigId?: string | null;

  @Field(() => [ChatLabelInput], {
    nullable: true,
    description: "The chat's labels, replacing all current ones. At most 50. Null for none.",
  })
  labels?: ChatLabelInput[] | null;

  @Field(() => [ID], {
    nullable: true,
    description:
      "The MCP servers available to the chat from now on, at most 50. Null for no change; empty for only those that are always on.",
  })
  mcpServerIds?: string[] | null;
}

@ObjectType("UpdateChatPayload", { simpleResolvers: true, description: "The chat in its current state." })
export class UpdateChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@InputType("RegenerateChatTitleInput", { description: "Input of `regenerateChatTitle`." })
export class RegenerateChatTitleInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("RegenerateChatTitlePayload", {
  simpleResolvers: true,
  description: "The chat with its new title, or with another one if a user renamed it in the meantime.",
})
export class RegenerateChatTitlePayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
