/** The deployment as a whole. */
import { Field, ObjectType } from "type-graphql";

@ObjectType("Deployment", { simpleResolvers: true, description: "This installation of Parley." })
export class Deployment {
  @Field(() => String, { description: "The server's version, as in its changelog." })
  version!: string;
}
