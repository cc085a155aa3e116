/** Relay connections: the same shape for every list that can grow. */
import { ArgsType, type ClassType, Field, Int, ObjectType } from "type-graphql";

@ObjectType("PageInfo", {
  simpleResolvers: true,
  description: "Where a page stands in its list.",
})
export class PageInfo {
  @Field(() => String, { nullable: true, description: "The first edge's cursor; null on an empty page." })
  startCursor!: string | null;

  @Field(() => String, { nullable: true, description: "The last edge's cursor; null on an empty page." })
  endCursor!: string | null;

  @Field(() => Boolean, { description: "Whether `last` and `before: startCursor` would find more." })
  hasPreviousPage!: boolean;

  @Field(() => Boolean, { description: "Whether `first` and `after: endCursor` would find more." })
  hasNextPage!: boolean;
}

export type Edge<T> = { cursor: string; node: T };
export type Connection<T> = { edges: Edge<T>[]; nodes: T[]; pageInfo: PageInfo };

/** The connection type `<name>Connection` and its edge type, for a node type. */
export function connectionType<T extends object>(node: ClassType<T>, name: string): ClassType<Connection<T>> {
  @ObjectType(`${name}Edge`, { simpleResolvers: true, description: `One ${name} in a list.` })
  class EdgeType implements Edge<T> {
    @Field(() => String, { description: "The node's place in this list." })
    cursor!: string;

    @Field(() => node, { description: "The object itself." })
    node!: T;
  }

  @ObjectType(`${name}Connection`, { simpleResolvers: true, description: `A page of a list of ${name}.` })
  class ConnectionType implements Connection<T> {
    @Field(() => [EdgeType], { description: "The page's objects with their cursors." })
    edges!: EdgeType[];

    @Field(() => [node], { description: "The page's objects alone." })
    nodes!: T[];

    @Field(() => PageInfo, { description: "Where this page stands." })
    pageInfo!: PageInfo;
  }
  return ConnectionType;
}

const FIRST = "So many from the start, or from behind `after`; 1 to 100.";
const AFTER = "An edge's cursor: only what comes behind it.";
const LAST = "So many from the end, or from ahead of `before`; 1 to 100. Not together with `first`.";
const BEFORE = "An edge's cursor: only what comes ahead of it.";

@ArgsType()
export class ForwardPageArguments {
  @Field(() => Int, { nullable: true, description: FIRST })
  first?: number | null;

  @Field(() => String, { nullable: true, description: AFTER })
  after?: string | null;
}

@ArgsType()
export class PageArguments {
  @Field(() => Int, { nullable: true, description: `${FIRST} Not together with \`last\`.` })
  first?: number | null;

  @Field(() => String, { nullable: true, description: AFTER })
  after?: string | null;

  @Field(() => Int, { nullable: true, description: LAST })
  last?: number | null;

  @Field(() => String, { nullable: true, description: BEFORE })
  before?: string | null;
}
