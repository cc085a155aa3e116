/** Parsing, validation and cost limits of documents and operations, shared by all transports. */
import { createHash } from "node:crypto";
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
import { computeCost } from "./cost.js";
import { refuseSize } from "./document-size.js";
import type { HttpLimits } from "./limits.js";
import { tooCostly, withCode } from "./refusals.js";
import { createLimitRules } from "./rules.js";

/** An unchecked operation from a client. */
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
  /** As counted by cost.ts. */
  cost: number;
};

/** Result of reading a text: a valid document, or errors. */
export type Reading =
  { kind: "read"; document: DocumentNode } | { kind: "refused"; errors: readonly GraphQLError[] };

export type Admission =
  { kind: "admitted"; operation: AdmittedOperation } | { kind: "refused"; errors: readonly GraphQLError[] };

export type DocumentGate = {
  /** For Apollo, should a document be evicted from the cache before it runs. */
  readonly rules: readonly ValidationRule[];
  readonly maxTokens: number;
  /** Whether the text's document is cached. */
  isKnown(query: string): boolean;
  /** The cached document of the text with this SHA-256, in hex. */
  find(hash: string): DocumentNode | undefined;
  /** Checks length, syntax, size and validity. May block the event loop for tens of milliseconds. */
  read(query: string): Reading;
  /** Cost of a valid operation, or the error when it is too costly or has invalid variables. */
  costOf(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: RawOperation["variables"],
  ): number | GraphQLError;
  /** All checks: reads the text, selects the operation, computes its cost. */
  admit(raw: RawOperation): Admission;
};

/** Text size of cached documents, whose parsed form takes some thirty times as much memory. */
const MAX_CACHED_TEXT_BYTES = 256 * 1024;

/** Each error may take a millisecond, for the search of similar names; more of them are not useful. */
const MAX_ERRORS = 10;

/** Creates the gate of a schema. In production, errors do not suggest names of the schema. */
export function createDocumentGate(
  schema: GraphQLSchema,
  limits: HttpLimits,
  isProduction = false,
): DocumentGate {
  const rules = createLimitRules(limits);
  const allRules = [...specifiedRules, ...rules];
  const validation = { maxErrors: MAX_ERRORS, hideSuggestions: isProduction };
  // Thousands of subscribers send the same few texts: each is parsed, validated and stored once.
  const known = new LRUCache<string, DocumentNode>({ maxSize: MAX_CACHED_TEXT_BYTES });

  const readNew = (query: string, hash: string): Reading => {
    const bytes = Buffer.byteLength(query);
    if (bytes > limits.maxDocumentBytes) return refused(tooLong(bytes, limits.maxDocumentBytes));
    const document = parseDocument(query, limits.maxTokens);
    if (document instanceof GraphQLError) return refused(document);
    const tooLarge = refuseSize(document, limits);
    if (tooLarge) return refused(tooLarge);
    const errors = validate(schema, document, allRules, validation);
    if (errors.length > 0)
      return { kind: "refused", errors: errors.map((error) => withCode(error, "GRAPHQL_VALIDATION_FAILED")) };
    known.set(hash, document, { size: query.length });
    return { kind: "read", document };
  };
  const read: DocumentGate["read"] = (query) => {
    const hash = hashOf(query);
    const document = known.get(hash);
    return document ? { kind: "read", document } : readNew(query, hash);
  };
  const costOf: DocumentGate["costOf"] = (document, operation, variables) =>
    computeCost({ schema, document, operation, variables }, limits.maxCost);

  const admit: DocumentGate["admit"] = (raw) => {
    const reading = read(raw.query);
    if (reading.kind === "refused") return reading;
    const { document } = reading;
    const operation = getOperationAST(document, raw.operationName);
    if (!operation) return refused(unknownOperation(raw.operationName));
    const cost = costOf(document, operation, raw.variables);
    if (cost instanceof GraphQLError) return refused(cost);
    const operationName = raw.operationName ?? undefined;
    const variableValues = raw.variables ?? undefined;
    return { kind: "admitted", operation: { document, operation, operationName, variableValues, cost } };
  };
  return {
    ...{ rules, read, costOf, admit },
    maxTokens: limits.maxTokens,
    isKnown: (query) => known.has(hashOf(query)),
    find: (hash) => known.get(hash),
  };
}

/** Equal to Apollo's document hash. */
function hashOf(query: string): string {
  return createHash("sha256").update(query).digest("hex");
}

function tooLong(bytes: number, maxBytes: number): GraphQLError {
  return tooCostly(`The document has ${bytes} bytes; at most ${maxBytes} are allowed.`);
}

function refused(error: GraphQLError): { kind: "refused"; errors: readonly GraphQLError[] } {
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
