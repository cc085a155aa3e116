/** What a list of chats is asked with. */
import { ArgsType, Field } from "type-graphql";
import { ChatFilterInput } from "./chat.input.js";
import { PageArguments } from "../common/connection.js";
import { type ChatOrder, ChatOrderEnum } from "../common/enums.js";

@ArgsType()
export class ChatListArguments extends PageArguments {
  @Field(() => ChatFilterInput, { nullable: true, description: "Which chats." })
  filter?: ChatFilterInput | null;

  @Field(() => ChatOrderEnum, {
    nullable: true,
    defaultValue: "recently_updated",
    description: "What newest means.",
  })
  orderBy?: ChatOrder | null;
}
