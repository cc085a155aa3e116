/** What people change about a chat at any time, whatever its turn does. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { ChatLabelInput } from "./chat.input.js";
import type { Later } from "./chat.payloads.js";
import { Chat } from "./chat.type.js";
import { UserError } from "../common/user-error.interface.js";

const CHAT = "The chat after this change; null when it was refused.";
const ERRORS = "Why nothing was done; empty on success.";

@InputType("UpdateChatInput", {
  description: "Changes to a chat, archived ones too. What is absent stays as it is.",
})
export class UpdateChatInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;

  @Field(() => String, {
    nullable: true,
    description: "1 to 200 characters; no model replaces it unasked. Cannot be null.",
  })
  title?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: "Ask this model from the next turn on; null = the deployment's default at each turn.",
  })
  modelConfigId?: string | null;

  @Field(() => [ChatLabelInput], {
    nullable: true,
    description: "All its labels from now on, at most 50; null = none.",
  })
  labels?: ChatLabelInput[] | null;

  @Field(() => [ID], {
    nullable: true,
    description:
      "The tool servers of what is said from now on, at most 50; null = no change, empty = only those that are on in every turn.",
  })
  mcpServerIds?: string[] | null;
}

@ObjectType("UpdateChatPayload", { simpleResolvers: true, description: "The chat as it is now." })
export class UpdateChatPayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@InputType("RegenerateChatTitleInput", { description: "A chat that is to be named anew." })
export class RegenerateChatTitleInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("RegenerateChatTitlePayload", {
  simpleResolvers: true,
  description: "The chat with its new title; with another one if somebody renamed it meanwhile.",
})
export class RegenerateChatTitlePayload {
  @Field(() => Chat, { nullable: true, description: CHAT })
  chat!: Later<Chat | null> | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
