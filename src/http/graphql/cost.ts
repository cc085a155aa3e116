/**
 * Cost of an operation, computed before it runs. Scalars are free, an object costs 1, a page costs its size times the
 * cost of an item, `nodes(ids:)` likewise, a field that calls a workspace costs 25, a subscription 10. A field may
 * override its cost with a `complexity` extension.
 */
import { createRequire } from "node:module";
import {
  GraphQLError,
  isCompositeType,
  getNamedType,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import type { ComplexityEstimator, ComplexityEstimatorArgs } from "graphql-query-complexity";
import { badUserInput, tooCostly } from "./refusals.js";

// Its ESM build loads a second copy of graphql, with which every cost is 0.
const { fieldExtensionsEstimator, getComplexity } = createRequire(import.meta.url)(
  "graphql-query-complexity",
) as typeof import("graphql-query-complexity");

const OBJECT_COST = 1;
const REMOTE_COST = 25;
const SUBSCRIPTION_COST = 10;
const DEFAULT_PAGE_SIZE = 25;
const DEFAULT_MESSAGES_PAGE_SIZE = 50;
/** Fields resolved by a workspace, another server or an MCP server. */
const REMOTE_FIELDS: ReadonlySet<string> = new Set(["diff", "git", "tools", "agent"]);
/** Bound on visited selections, fragments expanded; a document beyond it is refused. */
const MAX_COUNTED_SELECTIONS = 10_000;

export type CostInput = {
  schema: GraphQLSchema;
  /** A valid document. */
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>> | null | undefined;
};

/**
 * The operation's cost, or an error: too costly, or arguments or variables of the wrong type. The latter must be refused
 * here, because without them the cost is unknown.
 */
export function computeCost(input: CostInput, maxCost: number): number | GraphQLError {
  const { schema, document, operation, variables } = input;
  let cost: number;
  try {
    cost = getComplexity({
      schema,
      query: document,
      variables: { ...variables },
      operationName: operation.name?.value,
      estimators: [fieldExtensionsEstimator(), estimate],
      maxQueryNodes: MAX_COUNTED_SELECTIONS,
    });
  } catch (failure) {
    if (!(failure instanceof GraphQLError)) throw failure;
    // Only the error about the bound on selections has no nodes.
    if (failure.nodes !== undefined) return badUserInput(failure.message, failure);
    return tooCostly(`The operation has more than ${MAX_COUNTED_SELECTIONS} selections.`, [operation]);
  }
  if (cost <= maxCost) return cost;
  return tooCostly(`The operation costs ${cost}; at most ${maxCost} is allowed.`, [operation]);
}

const estimate: ComplexityEstimator = (field) => {
  if (!isCompositeType(getNamedType(field.field.type))) return ownCost(field, 0);
  return ownCost(field, OBJECT_COST) + itemCount(field) * field.childComplexity;
};

function ownCost({ type, field }: ComplexityEstimatorArgs, defaultCost: number): number {
  if (type.name === "Subscription") return SUBSCRIPTION_COST;
  return REMOTE_FIELDS.has(field.name) ? REMOTE_COST : defaultCost;
}

function itemCount({ field, args }: ComplexityEstimatorArgs): number {
  if (Array.isArray(args.ids)) return args.ids.length;
  const isPaged = field.args.some(({ name }) => name === "first" || name === "last");
  if (!isPaged) return 1;
  const pageSize: unknown = args.first ?? args.last;
  // A page size below 1 is refused by the field itself; it must not reduce the cost here.
  if (typeof pageSize === "number") return Math.max(1, pageSize);
  return field.name === "messages" ? DEFAULT_MESSAGES_PAGE_SIZE : DEFAULT_PAGE_SIZE;
}
