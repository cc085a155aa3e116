/** A user's preferences for all their chats. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("UserPreferences", {
  simpleResolvers: true,
  description: "A user's preferences for all their chats.",
})
export class UserPreferences {
  /** Database ID. */
  defaultModelConfigId!: string | null;

  @Field(() => String, {
    description: "Text added to the model's instructions in every chat. Empty for none.",
  })
  customPrompt!: string;
}

@InputType("UpdateUserPreferencesInput", {
  description: "Input of `updateUserPreferences`. Fields that are absent do not change.",
})
export class UpdateUserPreferencesInput {
  @Field(() => String, {
    nullable: true,
    description:
      "Text added to the model's instructions in all of the viewer's chats: at most 131,072 bytes of UTF-8. Null or empty for none. Invisible characters and redundant whitespace are removed. Applies to turns that start later, after at most five seconds.",
  })
  customPrompt?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: "The model of new chats that choose none. Null for the deployment's default.",
  })
  defaultModelConfigId?: string | null;
}

@ObjectType("UpdateUserPreferencesPayload", {
  simpleResolvers: true,
  description: "The viewer's preferences in their current state.",
})
export class UpdateUserPreferencesPayload {
  @Field(() => UserPreferences, {
    nullable: true,
    description: "The preferences. Null if the mutation was refused.",
  })
  preferences!: UserPreferences | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}
