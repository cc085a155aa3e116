/** The fields that an operation selects below a field. */
import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from "graphql";

/** Names of the fields selected at the end of the path, with fragments expanded. Empty if there are none. */
export function fieldsSelectedAt(info: GraphQLResolveInfo, path: readonly string[]): ReadonlySet<string> {
  let fields: FieldNode[] = [...info.fieldNodes];
  for (const name of path) fields = childrenOf(fields, info).filter((field) => field.name.value === name);
  return new Set(childrenOf(fields, info).map((field) => field.name.value));
}

function childrenOf(fields: readonly FieldNode[], { fragments }: GraphQLResolveInfo): FieldNode[] {
  const open = (set: SelectionSetNode | undefined): FieldNode[] =>
    (set?.selections ?? []).flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return open(selection.selectionSet);
      return open(fragments[selection.name.value]?.selectionSet);
    });
  return fields.flatMap((field) => open(field.selectionSet));
}
