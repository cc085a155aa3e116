/** Files that people or tools have given to a chat. */
import { Field, Int, ObjectType } from "type-graphql";
import { Node } from "./node.interface.js";

@ObjectType("File", { implements: Node, simpleResolvers: true, description: "A file of a chat." })
export class File implements Node {
  readonly __typename!: "File";

  id!: string;

  @Field(() => String, { description: "Its name, without a path." })
  name!: string;

  @Field(() => String, { description: "Its media type, for example `image/png`." })
  mediaType!: string;

  @Field(() => Int, { description: "Its size in bytes." })
  sizeBytes!: number;
}
