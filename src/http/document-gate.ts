/** What both doors ask of a document and an operation before it may run, so that neither is the weaker one. */
import {
  getOperationAST,
  GraphQLError,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type ValidationRule,
} from "graphql";
import { LRUCache } from "lru-cache";
import { refuseCost } from "./cost.js";
import type { HttpLimits } from "./limits.js";
import { tooCostly, withCode } from "./refusals.js";
import { createLimitRules } from "./rules.js";

/** An operation as it came from a client, not yet looked at. */
export type RawOperation = {
  query: string;
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
};

/** An operation that may run. */
export type AdmittedOperation = {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  operationName: string | undefined;
  variableValues: Record<string, unknown> | undefined;
};

export type Admission =
  { kind: "admitted"; operation: AdmittedOperation } | { kind: "refused"; errors: readonly GraphQLError[] };

export type DocumentGate = {
  /** For Apollo, which parses and validates by itself. */
  readonly rules: readonly ValidationRule[];
  readonly maxTokens: number;
  /** Refuses a text that is too long to be parsed. */
  refuseText(query: string): GraphQLError | undefined;
  /** Refuses a valid operation for its cost or its variables. */
  refuseOperation(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: RawOperation["variables"],
  ): GraphQLError | undefined;
  /** All of it at once: text, syntax, validation, choice of the operation, cost. */
  admit(raw: RawOperation): Admission;
};

/** Texts of good documents whose parsed form is kept, which takes some thirty times as much memory. */
const MAX_KEPT_TEXT_BYTES = 256 * 1024;

/** Makes the gate for one schema. */
export function createDocumentGate(schema: GraphQLSchema, limits: HttpLimits): DocumentGate {
  const rules = createLimitRules(limits);
  const allRules = [...specifiedRules, ...rules];
  // Thousands of subscribers send the same few texts: each is parsed and validated once, and held once.
  const known = new LRUCache<string, DocumentNode>({ maxSize: MAX_KEPT_TEXT_BYTES });

  const refuseText: DocumentGate["refuseText"] = (query) => {
    const bytes = Buffer.byteLength(query);
    if (bytes <= limits.maxDocumentBytes) return undefined;
    return tooCostly(`The document has ${bytes} bytes; at most ${limits.maxDocumentBytes} are allowed.`);
  };
  const refuseOperation: DocumentGate["refuseOperation"] = (document, operation, variables) =>
    refuseCost({ schema, document, operation, variables }, limits.maxCost);

  const admit: DocumentGate["admit"] = (raw) => {
    const textRefusal = refuseText(raw.query);
    if (textRefusal) return refused(textRefusal);
    const document = known.get(raw.query) ?? parseDocument(raw.query, limits.maxTokens);
    if (document instanceof GraphQLError) return refused(document);
    if (!known.has(raw.query)) {
      const errors = validate(schema, document, allRules);
      if (errors.length > 0) {
        return {
          kind: "refused",
          errors: errors.map((error) => withCode(error, "GRAPHQL_VALIDATION_FAILED")),
        };
      }
      known.set(raw.query, document, { size: raw.query.length });
    }
    const operation = getOperationAST(document, raw.operationName);
    if (!operation) return refused(unknownOperation(raw.operationName));
    const refusal = refuseOperation(document, operation, raw.variables);
    if (refusal) return refused(refusal);
    const operationName = raw.operationName ?? undefined;
    const variableValues = raw.variables ?? undefined;
    return { kind: "admitted", operation: { document, operation, operationName, variableValues } };
  };
  return { rules, maxTokens: limits.maxTokens, refuseText, refuseOperation, admit };
}

function refused(error: GraphQLError): Admission {
  return { kind: "refused", errors: [error] };
}

function parseDocument(query: string, maxTokens: number): DocumentNode | GraphQLError {
  try {
    return parse(query, { maxTokens });
  } catch (failure) {
    if (failure instanceof GraphQLError) return withCode(failure, "GRAPHQL_PARSE_FAILED");
    throw failure;
  }
}

function unknownOperation(name: string | null | undefined): GraphQLError {
  const message = name
    ? `Unknown operation named "${name}".`
    : "Must provide operation name if query contains multiple operations.";
  return new GraphQLError(message, { extensions: { code: "OPERATION_RESOLUTION_FAILURE" } });
}
