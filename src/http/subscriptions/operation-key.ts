/** Tells operations apart by what their answers can depend on: the document, the operation chosen, its variables. */
import { createHash } from "node:crypto";
import { type DocumentNode, Kind, type OperationDefinitionNode, print, visit } from "graphql";
import type { AdmittedOperation } from "../graphql/document-gate.js";

/**
 * Where a subscriber comes in: it chooses the first event and has no part in what any event looks like, so those who
 * come back with different cursors ask the same.
 */
const STARTING_POINT_ARGUMENT = "after";

/** Made once for each parsed document, which the gate shares between those who send the same text. */
const hashes = new WeakMap<DocumentNode, string>();

/** Equal for operations that give the same answer to the same event and viewer. Fixed length. */
export function operationKey({
  document,
  operation,
  operationName,
  variableValues,
}: AdmittedOperation): string {
  const ignored = startingPointVariables(document, operation);
  const shaping = Object.entries(variableValues ?? {}).filter(([name]) => !ignored.has(name));
  const asked = JSON.stringify([documentHash(document), operationName ?? null, shaping]);
  return createHash("sha256").update(asked).digest("base64url");
}

/** Names of the variables that are used as a root field's starting point and nowhere else. */
function startingPointVariables(document: DocumentNode, operation: OperationDefinitionNode): Set<string> {
  const starting = operation.selectionSet.selections.flatMap((selection) => {
    const given = selection.kind === Kind.FIELD ? (selection.arguments ?? []) : [];
    return given.flatMap(({ name, value }) =>
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
