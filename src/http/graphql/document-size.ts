/**
 * Size of a parsed document, checked before validation: graphql-js compares all pairs of fields with the same name that
 * may overlap, with their arguments, so that validation is quadratic in repetition. The count expands fragments and
 * stops at its bound, so that it takes bounded time.
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from "graphql";
import type { HttpLimits } from "./limits.js";
import { tooCostly } from "./refusals.js";

export type SizeLimits = Pick<HttpLimits, "maxNodes" | "maxComparisons">;

/**
 * `nodes`: fields, inline fragments and spreads of all operations, fragments expanded, and of unused fragments.
 * `comparisons`: pairs of fields of one name, times the values in their arguments; an upper bound, as if all fields of one
 * name overlapped.
 */
export type DocumentSize = { nodes: number; comparisons: number };

/** The error for a document that is too large to validate. Accepts any parsed document, with missing or cyclic fragments. */
export function refuseSize(document: DocumentNode, limits: SizeLimits): GraphQLError | undefined {
  const { nodes, comparisons } = measureDocument(document, limits.maxNodes);
  const { maxNodes, maxComparisons } = limits;
  if (nodes > maxNodes) {
    const message = `The document has more than ${maxNodes} fields and fragments, counted once per use; at most ${maxNodes} are allowed.`;
    return tooCostly(message, document.definitions.slice(0, 1));
  }
  if (comparisons <= maxComparisons) return undefined;
  const message = `The document repeats fields so often that ${comparisons} comparisons are needed; at most ${maxComparisons} are allowed.`;
  return tooCostly(message, document.definitions.slice(0, 1));
}

/** Counts until there are more than `maxNodes`. */
export function measureDocument(document: DocumentNode, maxNodes: number): DocumentSize {
  const count = new Count(document, maxNodes);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) count.add(definition.selectionSet);
  }
  count.addUnused();
  return count.size();
}

/** Number of fields of one name, and of values in their arguments. */
type FieldCount = { fields: number; values: number };

class Count {
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #used = new Set<string>();
  /** Fragments being expanded: a cyclic one is not expanded again. */
  readonly #open = new Set<string>();
  readonly #names = new Map<string, FieldCount>();
  #nodes = 0;

  constructor(
    document: DocumentNode,
    private readonly maxNodes: number,
  ) {
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION)
        this.#fragments.set(definition.name.value, definition);
    }
  }

  add({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (this.#nodes > this.maxNodes) return;
      this.#nodes += 1;
      this.#addSelection(selection);
    }
  }

  addUnused(): void {
    for (const name of this.#fragments.keys()) {
      if (!this.#used.has(name)) this.#expand(name);
    }
  }

  size(): DocumentSize {
    let comparisons = 0;
    for (const { fields, values } of this.#names.values()) comparisons += ((fields - 1) * values) / 2;
    return { nodes: this.#nodes, comparisons: Math.ceil(comparisons) };
  }

  #addSelection(selection: SelectionNode): void {
    switch (selection.kind) {
      case Kind.FIELD: {
        const name = selection.alias?.value ?? selection.name.value;
        const count = this.#names.get(name) ?? { fields: 0, values: 0 };
        count.fields += 1;
        count.values += 1;
        for (const { value } of selection.arguments ?? []) count.values += countValues(value);
        this.#names.set(name, count);
        if (selection.selectionSet) this.add(selection.selectionSet);
        return;
      }
      case Kind.INLINE_FRAGMENT:
        return this.add(selection.selectionSet);
      case Kind.FRAGMENT_SPREAD:
        return this.#expand(selection.name.value);
    }
  }

  #expand(name: string): void {
    const fragment = this.#fragments.get(name);
    if (!fragment || this.#open.has(name)) return;
    this.#used.add(name);
    this.#open.add(name);
    this.add(fragment.selectionSet);
    this.#open.delete(name);
  }
}

/** Number of values in a value, including itself. */
function countValues(value: ValueNode): number {
  switch (value.kind) {
    case Kind.LIST:
      return value.values.reduce((sum, item) => sum + countValues(item), 1);
    case Kind.OBJECT:
      return value.fields.reduce((sum, field) => sum + countValues(field.value), 1);
    default:
      return 1;
  }
}
