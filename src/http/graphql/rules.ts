/** Additional validation rules: limits on a document's depth, aliases and directives. */
import {
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from "graphql";
import type { HttpLimits } from "./limits.js";
import { tooCostly } from "./refusals.js";

type DocumentLimits = Pick<HttpLimits, "maxDepth" | "maxAliases" | "maxDirectives">;

/** Creates the rules. Each reports at most one error per operation, with code QUERY_TOO_COSTLY. */
export function createLimitRules(limits: DocumentLimits): ValidationRule[] {
  return [
    (context) => limitDepth(context, limits.maxDepth),
    (context) => limitCount(context, { kind: Kind.FIELD, most: limits.maxAliases, word: "aliases" }),
    (context) =>
      limitCount(context, { kind: Kind.DIRECTIVE, most: limits.maxDirectives, word: "directives" }),
  ];
}

function limitDepth(context: ValidationContext, maxDepth: number): ReturnType<ValidationRule> {
  const measure = createDepthMeasure(context);
  return {
    OperationDefinition(operation) {
      const depth = measure(operation.selectionSet);
      if (depth <= maxDepth) return;
      context.reportError(
        tooCostly(`The operation is ${depth} fields deep; at most ${maxDepth} are allowed.`, [operation]),
      );
    },
  };
}

/** Depth in fields. Each fragment is measured once, so that nested fragments stay cheap; cycles count as 0. */
function createDepthMeasure(context: ValidationContext): (selections: SelectionSetNode) => number {
  const fragmentDepths = new Map<string, number>();
  const ofFragment = (fragment: FragmentDefinitionNode): number => {
    const name = fragment.name.value;
    const known = fragmentDepths.get(name);
    if (known !== undefined) return known;
    fragmentDepths.set(name, 0);
    const depth = ofSelections(fragment.selectionSet);
    fragmentDepths.set(name, depth);
    return depth;
  };
  const ofSelections = (selections: SelectionSetNode): number => {
    let deepest = 0;
    for (const selection of selections.selections) {
      deepest = Math.max(deepest, ofSelection(selection));
    }
    return deepest;
  };
  const ofSelection = (selection: SelectionSetNode["selections"][number]): number => {
    switch (selection.kind) {
      case Kind.FIELD: {
        if (selection.name.value.startsWith("__")) return 1;
        return 1 + (selection.selectionSet ? ofSelections(selection.selectionSet) : 0);
      }
      case Kind.INLINE_FRAGMENT:
        return ofSelections(selection.selectionSet);
      case Kind.FRAGMENT_SPREAD: {
        const fragment = context.getFragment(selection.name.value);
        return fragment ? ofFragment(fragment) : 0;
      }
    }
  };
  return ofSelections;
}

type Counted = { kind: Kind.FIELD | Kind.DIRECTIVE; most: number; word: string };

function limitCount(context: ValidationContext, { kind, most, word }: Counted): ReturnType<ValidationRule> {
  let count = 0;
  const add = () => {
    count += 1;
  };
  return {
    Field(field) {
      if (kind === Kind.FIELD && field.alias !== undefined) add();
    },
    Directive() {
      if (kind === Kind.DIRECTIVE) add();
    },
    Document: {
      leave(document) {
        if (count <= most) return;
        const message = `The document has ${count} ${word}; at most ${most} are allowed.`;
        context.reportError(tooCostly(message, document.definitions.slice(0, 1)));
      },
    },
  };
}
