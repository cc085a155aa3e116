/**
 * How large a parsed document is, counted before it is validated: graphql-js compares every two fields of one name that
 * may end up side by side, with their arguments, so validation grows with the square of what is repeated. The count
 * expands fragments and stops at its bound: it takes the same time for every document beyond it.
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
 * `nodes`: fields, inline fragments and spreads of all operations, fragments expanded, and of fragments that no operation
 * uses. `comparisons`: pairs of fields of one name, each times the values in their arguments; an upper bound, as if all
 * fields of one name stood side by side.
 */
export type DocumentSize = { nodes: number; comparisons: number };

/** The reason to refuse the document unvalidated, if there is one. Any parsed document: fragments may be missing or go in circles. */
export function refuseSize(document: DocumentNode, limits: SizeLimits): GraphQLError | undefined {
  const { nodes, comparisons } = measureDocument(document, limits.maxNodes);
  const { maxNodes, maxComparisons } = limits;
  if (nodes > maxNodes) {
    const message = `The document has more than ${maxNodes} fields and fragments, each counted wherever it is used; at most ${maxNodes} are allowed.`;
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

/** Fields of one name. */
type Namesakes = { fields: number; weight: number };

class Count {
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #used = new Set<string>();
  /** Fragments that are being expanded: one that contains itself is not expanded again. */
  readonly #open = new Set<string>();
  readonly #names = new Map<string, Namesakes>();
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
    for (const { fields, weight } of this.#names.values()) comparisons += ((fields - 1) * weight) / 2;
    return { nodes: this.#nodes, comparisons: Math.ceil(comparisons) };
  }

  #addSelection(selection: SelectionNode): void {
    switch (selection.kind) {
      case Kind.FIELD: {
        const name = selection.alias?.value ?? selection.name.value;
        const namesakes = this.#names.get(name) ?? { fields: 0, weight: 0 };
        namesakes.fields += 1;
        namesakes.weight += 1;
        for (const { value } of selection.arguments ?? []) namesakes.weight += weightOf(value);
        this.#names.set(name, namesakes);
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

/** Values in a value, itself included. */
function weightOf(value: ValueNode): number {
  switch (value.kind) {
    case Kind.LIST:
      return value.values.reduce((sum, item) => sum + weightOf(item), 1);
    case Kind.OBJECT:
      return value.fields.reduce((sum, field) => sum + weightOf(field.value), 1);
    default:
      return 1;
  }
}
