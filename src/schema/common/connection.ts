/** Relay connections, used for every list that can grow. */
import { ArgsType, type ClassType, Field, Int, ObjectType } from "type-graphql";

@ObjectType("PageInfo", {
  simpleResolvers: true,
  description: "Information about pagination in a connection.",
})
export class PageInfo {
  @Field(() => String, {
    nullable: true,
    description: "Cursor of the first item. Null on an empty page.",
  })
  startCursor!: string | null;

  @Field(() => String, {
    nullable: true,
    description: "Cursor of the last item. Null on an empty page.",
  })
  endCursor!: string | null;

  @Field(() => Boolean, { description: "Whether there are items before this page." })
  hasPreviousPage!: boolean;

  @Field(() => Boolean, { description: "Whether there are items after this page." })
  hasNextPage!: boolean;
}

export type Edge<T> = { cursor: string; node: T };
export type Connection<T> = { edges: Edge<T>[]; nodes: T[]; pageInfo: PageInfo };

/** Creates the connection type `<name>Connection` and its edge type for a node type. */
export function connectionType<T extends object>(node: ClassType<T>, name: string): ClassType<Connection<T>> {
  @ObjectType(`${name}Edge`, {
    simpleResolvers: true,
    description: `An edge in a connection of ${name} nodes.`,
  })
  class EdgeType implements Edge<T> {
    @Field(() => String, { description: "A cursor for use in pagination." })
    cursor!: string;

    @Field(() => node, { description: "The item at the end of the edge." })
    node!: T;
  }

  @ObjectType(`${name}Connection`, {
    simpleResolvers: true,
    description: `A page of a list of ${name} nodes.`,
  })
  class ConnectionType implements Connection<T> {
    @Field(() => [EdgeType], { description: "A list of edges." })
    edges!: EdgeType[];

    @Field(() => [node], { description: "A list of nodes." })
    nodes!: T[];

    @Field(() => PageInfo, { description: "Information to aid in pagination." })
    pageInfo!: PageInfo;
  }
  return ConnectionType;
}

const FIRST = "Returns the first _n_ elements from the list. Between 1 and 100.";
const AFTER = "Returns the elements in the list that come after the specified cursor.";
const LAST =
  "Returns the last _n_ elements from the list. Between 1 and 100. Cannot be combined with `first`.";
const BEFORE = "Returns the elements in the list that come before the specified cursor.";

@ArgsType()
export class ForwardPageArguments {
  @Field(() => Int, { nullable: true, description: FIRST })
  first?: number | null;

  @Field(() => String, { nullable: true, description: AFTER })
  after?: string | null;
}

@ArgsType()
export class PageArguments {
  @Field(() => Int, { nullable: true, description: `${FIRST} Cannot be combined with \`last\`.` })
  first?: number | null;

  @Field(() => String, { nullable: true, description: AFTER })
  after?: string | null;

  @Field(() => Int, { nullable: true, description: LAST })
  last?: number | null;

  @Field(() => String, { nullable: true, description: BEFORE })
  before?: string | null;
}
