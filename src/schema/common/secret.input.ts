/** How secrets are given: they go in and never come out again. */
import { Field, InputType } from "type-graphql";

@InputType("SecretInput", { description: "Exactly one field. An absent secret keeps the stored one." })
export class SecretInput {
  @Field(() => String, { nullable: true, description: "The new secret. Blanks around it are taken away." })
  set?: string;

  @Field(() => Boolean, { nullable: true, description: "True: forget the stored one." })
  clear?: boolean;
}
