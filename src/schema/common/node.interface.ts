/** The interface of all objects with a global ID. */
import { Field, ID, InterfaceType } from "type-graphql";

@InterfaceType("Node", {
  description:
    "An object with a globally unique ID. IDs are opaque; their prefix is only meant for readers of logs.",
})
export abstract class Node {
  /** Name of the GraphQL type, by which graphql-js resolves abstract types. */
  readonly __typename!: string;

  @Field(() => ID, { description: "A globally unique, opaque ID." })
  id!: string;
}
