/**
 * What an operation may cost, counted before it runs. Scalars are free, an object costs 1, a page costs its size
 * times what is asked of each item, `nodes(ids:)` likewise, a field that asks a workspace costs 25, a subscription
 * 10. A field may say otherwise in its `complexity` extension.
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

// Its ESM build loads a second copy of graphql, with which it finds nothing and lets everything pass.
const { fieldExtensionsEstimator, getComplexity } = createRequire(import.meta.url)(
  "graphql-query-complexity",
) as typeof import("graphql-query-complexity");

const OBJECT_COST = 1;
const REMOTE_COST = 25;
const SUBSCRIPTION_COST = 10;
const DEFAULT_PAGE_SIZE = 25;
const DEFAULT_MESSAGES_PAGE_SIZE = 50;
/** Fields that are answered by a workspace, another server or an MCP server. */
const REMOTE_FIELDS: ReadonlySet<string> = new Set(["diff", "git", "tools", "agent"]);
/** Selections looked at, fragments expanded: beyond it the document multiplies by fragments and is refused. */
const MAX_COUNTED_SELECTIONS = 10_000;

/** The operation's cost in the words of this file, and what it is needed for. */
export type CostQuestion = {
  schema: GraphQLSchema;
  /** A valid document. */
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>> | null | undefined;
};

/**
 * The operation's cost, or the reason to refuse it: too costly, or arguments or variables of the wrong type.
 * The latter must be refused here, because what cannot be counted could cost anything.
 */
export function judgeCost(question: CostQuestion, maxCost: number): number | GraphQLError {
  const { schema, document, operation, variables } = question;
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
    // Only the bound on selections is reported without a place in the document.
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

function ownCost({ type, field }: ComplexityEstimatorArgs, usual: number): number {
  if (type.name === "Subscription") return SUBSCRIPTION_COST;
  return REMOTE_FIELDS.has(field.name) ? REMOTE_COST : usual;
}

function itemCount({ field, args }: ComplexityEstimatorArgs): number {
  if (Array.isArray(args.ids)) return args.ids.length;
  const isPaged = field.args.some(({ name }) => name === "first" || name === "last");
  if (!isPaged) return 1;
  const asked: unknown = args.first ?? args.last;
  // A page size below 1 is refused by the field itself; it must not make anything cheaper here.
  if (typeof asked === "number") return Math.max(1, asked);
  return field.name === "messages" ? DEFAULT_MESSAGES_PAGE_SIZE : DEFAULT_PAGE_SIZE;
}
