/** What a person wishes for all their chats. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("UserPreferences", {
  simpleResolvers: true,
  description: "What a person wishes for all their chats.",
})
export class UserPreferences {
  /** The database's id. */
  defaultModelConfigId!: string | null;

  @Field(() => String, { description: "Added to the model's instructions in every chat; empty = nothing." })
  customPrompt!: string;
}

@InputType("UpdateUserPreferencesInput", {
  description: "Changes to the viewer's own wishes. What is absent stays as it is.",
})
export class UpdateUserPreferencesInput {
  @Field(() => String, {
    nullable: true,
    description:
      "At most 131,072 bytes of UTF-8; null or empty = nothing. Invisible characters and surplus white space are taken out. Turns that begin later hear of it, at the latest after five seconds.",
  })
  customPrompt?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: "The model of new chats that choose none; null = the deployment's default.",
  })
  defaultModelConfigId?: string | null;
}

@ObjectType("UpdateUserPreferencesPayload", {
  simpleResolvers: true,
  description: "The viewer's wishes as they are now.",
})
export class UpdateUserPreferencesPayload {
  @Field(() => UserPreferences, { nullable: true, description: "Null when the change was refused." })
  preferences!: UserPreferences | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}
