/** Keys of operations, by everything that their results depend on: the document, the chosen operation, its variables. */
import { createHash } from "node:crypto";
import { type DocumentNode, Kind, type OperationDefinitionNode, print, visit } from "graphql";
import type { AdmittedOperation } from "../graphql/document-gate.js";

/**
 * The cursor argument: it chooses the first event and does not affect how events are rendered, so that subscribers
 * with different cursors share a key.
 */
const STARTING_POINT_ARGUMENT = "after";

/** Computed once per parsed document, which the gate shares between requests with the same text. */
const hashes = new WeakMap<DocumentNode, string>();

/** Equal for operations that have the same result for the same event and viewer. Fixed length. */
export function operationKey({
  document,
  operation,
  operationName,
  variableValues,
}: AdmittedOperation): string {
  const ignored = startingPointVariables(document, operation);
  const variables = Object.entries(variableValues ?? {}).filter(([name]) => !ignored.has(name));
  const text = JSON.stringify([documentHash(document), operationName ?? null, variables]);
  return createHash("sha256").update(text).digest("base64url");
}

/** Names of the variables that are used as a root field's starting point and nowhere else. */
function startingPointVariables(document: DocumentNode, operation: OperationDefinitionNode): Set<string> {
  const starting = operation.selectionSet.selections.flatMap((selection) => {
    const args = selection.kind === Kind.FIELD ? (selection.arguments ?? []) : [];
    return args.flatMap(({ name, value }) =>
      name.value === STARTING_POINT_ARGUMENT && value.kind === Kind.VARIABLE ? [value] : [],
    );
  });
  const elsewhere = new Set<string>();
  visit(document, {
    VariableDefinition: () => false,
    Variable: (node) => {
      if (!starting.includes(node)) elsewhere.add(node.name.value);
    },
  });
  return new Set(starting.map(({ name }) => name.value).filter((name) => !elsewhere.has(name)));
}

function documentHash(document: DocumentNode): string {
  const known = hashes.get(document);
  if (known !== undefined) return known;
  const text = document.loc?.source.body ?? print(document);
  const hash = createHash("sha256").update(text).digest("base64url");
  hashes.set(document, hash);
  return hash;
}
