/** The input type for secrets, which are write-only. */
import { Field, InputType } from "type-graphql";

@InputType("SecretInput", {
  description: "A change of a secret: exactly one field. If the secret is absent, the stored one is kept.",
})
export class SecretInput {
  @Field(() => String, { nullable: true, description: "The new secret. Surrounding whitespace is removed." })
  set?: string;

  @Field(() => Boolean, { nullable: true, description: "Set to true to delete the stored secret." })
  clear?: boolean;
}
