// Evaluates an entry for a caller and returns the outcome.
import { getNamedType, type GraphQLObjectType, isCompositeType } from "graphql";
import type { Answer, ApiClient, ApiError } from "../../support/clients/api-client.js";
import { names, type Reach, type RootEntry, type TypeEntry } from "./entries.js";
import type { World } from "./world.js";

type Data = Record<string, unknown>;

/** The outcome of a query or mutation for the caller. */
export async function askRoot(
  api: ApiClient,
  world: World,
  { field, entry }: { field: string; entry: RootEntry },
): Promise<string> {
  const { query, variables } = await entry.ask(world, field);
  const { data, errors } = await api.ask<Data>(query, variables);
  if (errors.length > 0) return codesOf(errors);
  return outcomeOf(data?.[field], entry.at ?? "", entry.id?.(world));
}

/** The outcome of a root field: shown, the code of the refusal, or nothing. */
export function outcomeOf(answer: unknown, at: string, id?: string): string {
  const found = reach(answer, pathOf(at));
  if (id === undefined ? found.length > 0 : objects(found).some((it) => it["id"] === id)) return "shown";
  return refusalsIn(answer) ?? "nothing";
}

export type Asked = { type: GraphQLObjectType; entry: TypeEntry; way: Reach };

/** The outcome of each field of a type for the caller. */
export async function askType(
  api: ApiClient,
  world: World,
  { type, entry, way }: Asked,
): Promise<Record<string, string>> {
  const { query, variables } = await way.ask(world, selectionOf(type, entry));
  const answer = await api.ask<Data>(query, variables);
  // Of a union, only members of the type.
  const found = objects(reach(answer.data, pathOf(way.at))).filter((it) => it["__typename"] === type.name);
  const outcome = (field: string) =>
    fieldOutcome(answer, { field, found, isGuarded: isGuarded(entry, field) });
  return Object.fromEntries(fieldsOf(entry).map((field) => [field, outcome(field)]));
}

type FieldLookup = { field: string; found: Data[]; isGuarded: boolean };

function fieldOutcome({ errors, data }: Answer<Data>, { field, found, isGuarded }: FieldLookup): string {
  const own = errors.filter(({ path }) => Array.isArray(path) && path.includes(field));
  if (own.length > 0) return codesOf(own);
  const values = found.filter((it) => field in it).map((it) => it[field]);
  // Fields without a rule of their own may be null: they are shown with their object.
  if (isGuarded ? values.some((value) => value !== null) : values.length > 0) return "shown";
  if (found.length > 0 || errors.length === 0) return refusalsIn(Object.values(data ?? {})) ?? "nothing";
  return codesOf(errors);
}

export function fieldsOf({ fields, guarded = {} }: TypeEntry): string[] {
  return [...names(fields), ...Object.keys(guarded)];
}

const isGuarded = ({ guarded = {} }: TypeEntry, field: string) => field in guarded;

/** Selects every field of the entry; of composite fields only the type name. */
function selectionOf(type: GraphQLObjectType, entry: TypeEntry): string {
  const selected = fieldsOf(entry).map((field) => {
    const definition = type.getFields()[field];
    const args = entry.args?.[field];
    const inner = definition && isCompositeType(getNamedType(definition.type)) ? " { __typename }" : "";
    return `${field}${args === undefined ? "" : `(${args})`}${inner}`;
  });
  return ["__typename", ...selected].join(" ");
}

/** The codes of errors; for FORBIDDEN, whether it is because of the token or the user. */
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

/** Values at the end of the path, with all lists flattened. */
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
