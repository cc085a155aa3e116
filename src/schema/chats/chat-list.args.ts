/** Arguments of the list of chats. */
import { ArgsType, Field } from "type-graphql";
import { ChatFilterInput } from "./chat.input.js";
import { PageArguments } from "../common/connection.js";
import { type ChatOrder, ChatOrderEnum } from "../common/enums.js";

@ArgsType()
export class ChatListArguments extends PageArguments {
  @Field(() => ChatFilterInput, { nullable: true, description: "Filters for the chats." })
  filter?: ChatFilterInput | null;

  @Field(() => ChatOrderEnum, {
    nullable: true,
    defaultValue: "recently_updated",
    description: "The sort order.",
  })
  orderBy?: ChatOrder | null;
}
