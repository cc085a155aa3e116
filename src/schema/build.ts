/** The executable schema, made once from the decorated types and the list of resolvers. */
import {
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  type GraphQLSchema,
  GraphQLUnionType,
  lexicographicSortSchema,
  printSchema,
} from "graphql";
import { type BuildSchemaOptions, type PubSub, buildSchemaSync } from "type-graphql";

/** Inputs of which exactly one field must be set. */
const ONE_OF_INPUTS = ["MessagePartInput", "McpAuthInput", "SecretInput"];

/** TypeGraphQL wants one although every subscription of ours brings its own source. */
const noPubSub: PubSub = {
  publish: () => {
    throw new Error("Parley publishes through its own bus, not through TypeGraphQL.");
  },
  subscribe: () => {
    throw new Error("Every subscription needs its own `subscribe` function.");
  },
};

/** Throws when the types do not fit together, which is a bug found at the start. */
export function buildParleySchema(resolvers: BuildSchemaOptions["resolvers"]): GraphQLSchema {
  const schema = buildSchemaSync({ resolvers, validate: false, pubSub: noPubSub });
  describeRoots(schema);
  demandOneField(schema);
  resolveTypesByName(schema);
  return schema;
}

/** The schema's text, sorted, as it is committed in `schema.graphql`. */
export function printParleySchema(schema: GraphQLSchema): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** TypeGraphQL has no place for these. */
function describeRoots(schema: GraphQLSchema): void {
  const roots = {
    Query: "What can be read. Nothing here changes anything.",
    Mutation: "What can be done. Each says in `userErrors` why it was not.",
    Subscription: "What can be followed. Each stream can be resumed behind any of its events.",
  };
  for (const [name, description] of Object.entries(roots)) {
    const type = schema.getType(name);
    if (type) type.description = description;
  }
}

/** TypeGraphQL has no way to say `@oneOf`; graphql-js prints and checks it by this flag alone. */
function demandOneField(schema: GraphQLSchema): void {
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
