/**
 * Compiled results for deltas, by far the most frequent events, without graphql-js: an operation's selection is compiled
 * once per kind of delta, and each delta is then projected onto it. Only selections that are certain to give the result of
 * an execution are compiled: objects without lists whose fields have neither resolvers nor arguments. All others are
 * executed.
 */
import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  getNullableType,
  getOperationAST,
  getVariableValues,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isLeafType,
  isObjectType,
  Kind,
} from "graphql";
import { collectFields, collectSubfields } from "graphql/execution/collectFields.js";
import type { ChatEvent } from "../../domain/chats/chat-stream.js";
import type { ChatPartEvent } from "../../schema/chats/chat-event.union.js";
import { toPartEvent } from "./part-events.js";

type Answer = ExecutionResult | Promise<ExecutionResult>;
type PartEvent = ChatEvent & { type: "part" };

/** Produces the result of an event, for one operation. */
type EventExecutor<Asking> = (event: unknown, asking: Asking) => Answer;

export type Operation = {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName: string | undefined;
  variableValues: Record<string, unknown> | undefined;
};

type Source = Readonly<Record<string, unknown>>;
/** Projects an event's object onto the result, with the selected fields in execution order. */
type Project = (source: Source) => Record<string, unknown>;

/** Wraps the execution of an operation shared by several subscribers. Events other than deltas are executed. */
export function answerDeltasFromTemplates<Asking>(
  execute: EventExecutor<Asking>,
  operation: Operation,
): EventExecutor<Asking> {
  const projections = new Map<string, Project | null>();
  return (event, asking) => {
    if (!isDelta(event)) return execute(event, asking);
    const object = toPartEvent(event);
    const kind = object.delta.__typename;
    let project = projections.get(kind);
    if (project === undefined) {
      project = compile(operation, object);
      projections.set(kind, project);
    }
    return project ? { data: project({ event: object }) } : execute(event, asking);
  };
}

function isDelta(event: unknown): event is PartEvent {
  const { type, delta } = event as Partial<PartEvent>;
  return type === "part" && delta !== undefined && delta.type.endsWith("-delta");
}

type Compiling = {
  schema: GraphQLSchema;
  fragments: Record<string, FragmentDefinitionNode>;
  variables: Record<string, unknown>;
};

/** Null if the result could differ from that of an execution. */
function compile(operation: Operation, example: ChatPartEvent): Project | null {
  const { schema, document, operationName, variableValues } = operation;
  const definition = getOperationAST(document, operationName);
  const root = schema.getSubscriptionType();
  if (!definition || !root) return null;
  const { coerced } = getVariableValues(schema, definition.variableDefinitions ?? [], variableValues ?? {});
  if (!coerced) return null;
  const compiling = { schema, fragments: fragmentsOf(document), variables: coerced };
  const selected = collectFields(schema, compiling.fragments, coerced, root, definition.selectionSet);
  const [first, ...more] = selected;
  const type = schema.getType(example.__typename);
  if (!first || more.length > 0 || !isObjectType(type)) return null;
  const project = compileObject(compiling, { type, nodes: first[1], example: asSource(example) });
  return project && (({ event }) => ({ [first[0]]: project(event as Source) }));
}

/** Views the object as a record of its fields. */
function asSource(object: object): Source {
  return object as Source;
}

function fragmentsOf(document: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments: Record<string, FragmentDefinitionNode> = {};
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return fragments;
}

type Selected = { type: GraphQLObjectType; nodes: readonly FieldNode[]; example: Source };

function compileObject(compiling: Compiling, { type, nodes, example }: Selected): Project | null {
  const { schema, fragments, variables } = compiling;
  const fields: [string, (source: Source) => unknown][] = [];
  for (const [key, [node, ...others]] of collectSubfields(schema, fragments, variables, type, nodes)) {
    if (!node) return null;
    const write = compileField(compiling, { type, nodes: [node, ...others], example });
    if (!write) return null;
    fields.push([key, write]);
  }
  return (source) => {
    const answer: Record<string, unknown> = {};
    for (const [key, write] of fields) answer[key] = write(source);
    return answer;
  };
}

/** `example` determines the concrete type of interfaces and unions; deltas of one kind differ in nothing else. */
function compileField(
  compiling: Compiling,
  { type, nodes, example }: Selected,
): ((source: Source) => unknown) | null {
  const name = nodes[0]?.name.value ?? "";
  if (name === "__typename") return () => type.name;
  const field = type.getFields()[name];
  if (!field || field.resolve || field.args.length > 0) return null;
  const fieldType = getNullableType(field.type);
  if (isLeafType(fieldType))
    return ({ [name]: value }) => (value == null ? null : fieldType.serialize(value));
  const value = example[name] as Source | null | undefined;
  if (!value) return null;
  const objectType = isAbstractType(fieldType)
    ? compiling.schema.getType(String(value["__typename"]))
    : fieldType;
  if (!isObjectType(objectType)) return null;
  const project = compileObject(compiling, { type: objectType, nodes, example: value });
  return project && ((source) => project(source[name] as Source));
}
