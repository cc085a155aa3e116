/** Root fields of an operation. Pure. */
import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from "graphql";

/**
 * Names of the root fields, one per use, including aliased ones, those in fragments, and those that directives skip. The
 * document must be valid, so that its fragments have no cycles.
 */
export function rootFields(document: DocumentNode, { selections }: SelectionSetNode): string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection.name.value];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(document, selection.selectionSet);
    const fragment = document.definitions.find(
      (it): it is FragmentDefinitionNode =>
        it.kind === Kind.FRAGMENT_DEFINITION && it.name.value === selection.name.value,
    );
    return fragment ? rootFields(document, fragment.selectionSet) : [];
  });
}
