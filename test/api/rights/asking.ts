// Asks one line as one asker, and says in a word what came of it.
import { getNamedType, type GraphQLObjectType, isCompositeType } from "graphql";
import type { Answer, ApiClient, ApiError } from "../../support/clients/api-client.js";
import { names, type Reach, type RootLine, type TypeLine } from "./lines.js";
import type { World } from "./world.js";

type Data = Record<string, unknown>;

/** What the asker gets of a query or a mutation. */
export async function askRoot(
  api: ApiClient,
  world: World,
  { field, line }: { field: string; line: RootLine },
): Promise<string> {
  const { query, variables } = await line.ask(world, field);
  const { data, errors } = await api.ask<Data>(query, variables);
  if (errors.length > 0) return codesOf(errors);
  return outcomeOf(data?.[field], line.at ?? "", line.id?.(world));
}

/** What the answer of a root field says: what is looked for is there, why it is not, or nothing. */
export function outcomeOf(answer: unknown, at: string, id?: string): string {
  const found = reach(answer, pathOf(at));
  if (id === undefined ? found.length > 0 : objects(found).some((it) => it["id"] === id)) return "shown";
  return refusalsIn(answer) ?? "nothing";
}

export type Asked = { type: GraphQLObjectType; line: TypeLine; way: Reach };

/** What the asker gets of each field of a type. */
export async function askType(
  api: ApiClient,
  world: World,
  { type, line, way }: Asked,
): Promise<Record<string, string>> {
  const { query, variables } = await way.ask(world, selectionOf(type, line));
  const answer = await api.ask<Data>(query, variables);
  // Of a union only those of the type.
  const found = objects(reach(answer.data, pathOf(way.at))).filter((it) => it["__typename"] === type.name);
  const outcome = (field: string) =>
    fieldOutcome(answer, { field, found, isGuarded: isGuarded(line, field) });
  return Object.fromEntries(fieldsOf(line).map((field) => [field, outcome(field)]));
}

type Looked = { field: string; found: Data[]; isGuarded: boolean };

function fieldOutcome({ errors, data }: Answer<Data>, { field, found, isGuarded }: Looked): string {
  const own = errors.filter(({ path }) => Array.isArray(path) && path.includes(field));
  if (own.length > 0) return codesOf(own);
  const values = found.filter((it) => field in it).map((it) => it[field]);
  // Fields without a rule of their own may be null: they are there with their object.
  if (isGuarded ? values.some((value) => value !== null) : values.length > 0) return "shown";
  if (found.length > 0 || errors.length === 0) return refusalsIn(Object.values(data ?? {})) ?? "nothing";
  return codesOf(errors);
}

export function fieldsOf({ fields, guarded = {} }: TypeLine): string[] {
  return [...names(fields), ...Object.keys(guarded)];
}

const isGuarded = ({ guarded = {} }: TypeLine, field: string) => field in guarded;

/** Every field that the line names; of what has fields itself only that it is there. */
function selectionOf(type: GraphQLObjectType, line: TypeLine): string {
  const selected = fieldsOf(line).map((field) => {
    const definition = type.getFields()[field];
    const args = line.args?.[field];
    const inner = definition && isCompositeType(getNamedType(definition.type)) ? " { __typename }" : "";
    return `${field}${args === undefined ? "" : `(${args})`}${inner}`;
  });
  return ["__typename", ...selected].join(" ");
}

/** The codes of errors; of FORBIDDEN, whether it is the token's fault or the person's. */
export function codesOf(errors: readonly ApiError[]): string {
  const words = errors.map(({ message, extensions: { code } }) =>
    code !== "FORBIDDEN" ? code : message.includes("scope") ? "no scope" : "no permission",
  );
  return [...new Set(words)].join(", ");
}

function refusalsIn(answer: unknown): string | undefined {
  const refusals = objects(reach(answer, ["userErrors"]));
  const codes = refusals.flatMap(({ code }) => (typeof code === "string" ? [code] : []));
  return codes.length > 0 ? [...new Set(codes)].join(", ") : undefined;
}

const pathOf = (at: string) => at.split(".").filter((name) => name !== "");

/** What is there at the end of the path, lists on the way and at the end opened. */
function reach(value: unknown, path: readonly string[]): unknown[] {
  let reached = flat(value);
  for (const name of path) reached = objects(reached).flatMap((it) => flat(it[name]));
  return reached;
}

function flat(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(flat);
  return value === null || value === undefined ? [] : [value];
}

function objects(values: readonly unknown[]): Data[] {
  return values.filter((value): value is Data => typeof value === "object" && value !== null);
}
