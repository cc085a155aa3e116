/** What both doors ask of a document and an operation before it may run, so that neither is the weaker one. */
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
import { judgeCost } from "./cost.js";
import { refuseSize } from "./document-size.js";
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
  /** In the words of cost.ts. */
  cost: number;
};

/** A text that was read: a valid document, or what is wrong with it. */
export type Reading =
  { kind: "read"; document: DocumentNode } | { kind: "refused"; errors: readonly GraphQLError[] };

export type Admission =
  { kind: "admitted"; operation: AdmittedOperation } | { kind: "refused"; errors: readonly GraphQLError[] };

export type DocumentGate = {
  /** For Apollo, should a document that was read be forgotten before it runs. */
  readonly rules: readonly ValidationRule[];
  readonly maxTokens: number;
  /** True when the text has been read before: then it takes no time. */
  isKnown(query: string): boolean;
  /** The document that was read from the text with this SHA-256, in hex; undefined when it is not kept. */
  find(hash: string): DocumentNode | undefined;
  /** Reads a text: its length, syntax, size, validity. May keep the process busy for tens of milliseconds. */
  read(query: string): Reading;
  /** A valid operation's cost, or the reason to refuse it for that or for its variables. */
  judge(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: RawOperation["variables"],
  ): number | GraphQLError;
  /** All of it at once: reading, choice of the operation, cost. */
  admit(raw: RawOperation): Admission;
};

/** Texts of good documents whose parsed form is kept, which takes some thirty times as much memory. */
const MAX_KEPT_TEXT_BYTES = 256 * 1024;

/** Each error may take a millisecond, as similar names of the schema are looked for; nobody reads more of them. */
const MAX_ERRORS = 10;

/** Makes the gate for one schema. In production errors do not suggest names of it. */
export function createDocumentGate(
  schema: GraphQLSchema,
  limits: HttpLimits,
  isProduction = false,
): DocumentGate {
  const rules = createLimitRules(limits);
  const allRules = [...specifiedRules, ...rules];
  const validation = { maxErrors: MAX_ERRORS, hideSuggestions: isProduction };
  // Thousands of subscribers send the same few texts: each is parsed and validated once, and held once.
  const known = new LRUCache<string, DocumentNode>({ maxSize: MAX_KEPT_TEXT_BYTES });

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
  const judge: DocumentGate["judge"] = (document, operation, variables) =>
    judgeCost({ schema, document, operation, variables }, limits.maxCost);

  const admit: DocumentGate["admit"] = (raw) => {
    const reading = read(raw.query);
    if (reading.kind === "refused") return reading;
    const { document } = reading;
    const operation = getOperationAST(document, raw.operationName);
    if (!operation) return refused(unknownOperation(raw.operationName));
    const cost = judge(document, operation, raw.variables);
    if (cost instanceof GraphQLError) return refused(cost);
    const operationName = raw.operationName ?? undefined;
    const variableValues = raw.variables ?? undefined;
    return { kind: "admitted", operation: { document, operation, operationName, variableValues, cost } };
  };
  return {
    ...{ rules, read, judge, admit },
    maxTokens: limits.maxTokens,
    isKnown: (query) => known.has(hashOf(query)),
    find: (hash) => known.get(hash),
  };
}

/** Equal to Apollo's name for a text. */
function hashOf(query: string): string {
  return createHash("sha256").update(query).digest("hex");
}

function tooLong(bytes: number, most: number): GraphQLError {
  return tooCostly(`The document has ${bytes} bytes; at most ${most} are allowed.`);
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
