/** Builds the executable schema from the decorated types and the resolver classes. */
import {
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  type GraphQLSchema,
  GraphQLUnionType,
  lexicographicSortSchema,
  printSchema,
} from "graphql";
import { type BuildSchemaOptions, type PubSub, buildSchemaSync } from "type-graphql";

/** Inputs with exactly one field set. */
const ONE_OF_INPUTS = ["MessagePartInput", "McpAuthInput", "SecretInput"];

/** Required by TypeGraphQL, but never used: every subscription has its own `subscribe` function. */
const noPubSub: PubSub = {
  publish: () => {
    throw new Error("Parley publishes through its own bus, not through TypeGraphQL.");
  },
  subscribe: () => {
    throw new Error("Every subscription needs its own `subscribe` function.");
  },
};

/** Throws if the types are inconsistent, which is a bug that shows at startup. */
export function buildParleySchema(resolvers: BuildSchemaOptions["resolvers"]): GraphQLSchema {
  const schema = buildSchemaSync({ resolvers, validate: false, pubSub: noPubSub });
  describeRoots(schema);
  markOneOfInputs(schema);
  resolveTypesByName(schema);
  return schema;
}

/** The sorted SDL, as committed in `schema.graphql`. */
export function printParleySchema(schema: GraphQLSchema): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** Describes the root types, for which TypeGraphQL has no option. */
function describeRoots(schema: GraphQLSchema): void {
  const roots = {
    Query: "The query root. Queries have no side effects.",
    Mutation:
      "The mutation root. A refused mutation changes nothing and returns the reasons in `userErrors`.",
    Subscription: "The subscription root. Event streams can be resumed after any of their events.",
  };
  for (const [name, description] of Object.entries(roots)) {
    const type = schema.getType(name);
    if (type) type.description = description;
  }
}

/** Marks inputs as `@oneOf`, which TypeGraphQL does not support. graphql-js prints and validates it by this flag alone. */
function markOneOfInputs(schema: GraphQLSchema): void {
  for (const name of ONE_OF_INPUTS) {
    const input = schema.getType(name);
    if (!(input instanceof GraphQLInputObjectType)) throw new Error(`${name} is not an input of the schema.`);
    input.isOneOf = true;
  }
}

/**
 * TypeGraphQL wraps `resolveType` in a promise. Without one graphql-js reads the object's `__typename` at once,
 * which matters where thousands of events per second are sent.
 */
function resolveTypesByName(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type instanceof GraphQLUnionType || type instanceof GraphQLInterfaceType)
      type.resolveType = undefined;
  }
}
