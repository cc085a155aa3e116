/** What an operation asks for at its root. Pure. */
import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from "graphql";

/**
 * The names of the root's fields, each as often as it stands there, under other names and in fragments too; what
 * directives would leave out is counted. The document is valid, so its fragments do not go in circles.
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
