/** The interface of everything with a global id. */
import { Field, ID, InterfaceType } from "type-graphql";

@InterfaceType("Node", {
  description: "Anything with a global id. Ids are opaque; the prefix only helps humans reading logs.",
})
export abstract class Node {
  /** The GraphQL type's name; graphql-js tells objects apart by it. */
  readonly __typename!: string;

  @Field(() => ID, { description: "Opaque and unique across all types." })
  id!: string;
}
