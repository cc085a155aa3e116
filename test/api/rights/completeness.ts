// Compares the schema with the access table and reports the differences as sentences. Pure.
import {
  getNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
} from "graphql";
import {
  entriesOf,
  names,
  type RootEntries,
  type Table,
  type TypeEntry,
  type TypeEntries,
} from "./entries.js";

const HERE = "test/api/rights";
/** Common fields of connections, visible with the list. */
const OF_LISTS: Record<string, readonly string[]> = {
  Connection: ["edges", "nodes", "pageInfo"],
  Edge: ["cursor", "node"],
};
/** The interface of user errors. */
const REFUSAL = "UserError";

/** Empty if every field of the schema has a rule and every rule a field. */
export function gapsIn(table: Table, schema: GraphQLSchema): string[] {
  const mutations = { ...table.changes, ...table.administration };
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const types = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType =>
      isObjectType(type) && !type.name.startsWith("__") && !roots.includes(type),
  );
  return [
    ...rootGaps(schema.getQueryType(), table.queries, "queries.ts"),
    ...rootGaps(schema.getMutationType(), mutations, "changes.ts, or administration.ts if it is an admin's"),
    ...rootGaps(schema.getSubscriptionType(), table.subscriptions, "subscriptions.ts"),
    ...types.flatMap((type) => typeGaps(type, table.types, schema)),
    ...staleTypes(types, table.types),
  ];
}

function rootGaps(root: GraphQLObjectType | null | undefined, entries: RootEntries, file: string): string[] {
  if (!root) return [];
  const fields = Object.keys(root.getFields());
  const missing = fields.filter((field) => entriesOf(entries[field]).length === 0);
  const unknown = Object.keys(entries).filter((field) => !fields.includes(field));
  return [
    ...missing.map((field) => `${root.name}.${field} has no entry: add one to ${HERE}/${file}.`),
    ...unknown.map(
      (field) => `${root.name}.${field} has an entry in ${HERE}/${file}, but is not in the schema.`,
    ),
  ];
}

/** Fields that need no rule. */
function commonFields(type: GraphQLObjectType): readonly string[] {
  const ending = Object.keys(OF_LISTS).find((it) => type.name.endsWith(it));
  if (ending !== undefined) return OF_LISTS[ending] ?? [];
  return type.getInterfaces().flatMap((it) => (it.name === REFUSAL ? Object.keys(it.getFields()) : []));
}

function typeGaps(type: GraphQLObjectType, entries: TypeEntries, schema: GraphQLSchema): string[] {
  // Payloads belong to their mutation, and PageInfo to its list.
  if (type.name.endsWith("Payload")) return payloadGaps(type, schema);
  if (type.name === "PageInfo") return [];
  const common = commonFields(type);
  const wanted = Object.keys(type.getFields()).filter((field) => !common.includes(field));
  const entry = entries[type.name];
  if (entry === undefined) {
    return wanted.length === 0
      ? []
      : [
          `The type ${type.name} has no entry: add one to ${HERE}/types-*.ts with the rules of its fields and a path to an object.`,
        ];
  }
  const named = [...names(entry.fields), ...Object.keys(entry.guarded ?? {})];
  const missing = wanted.filter((field) => !named.includes(field));
  const unknown = named.filter((field) => !wanted.includes(field));
  const twice = named.filter((field, index) => named.indexOf(field) !== index);
  return [
    ...missing.map(
      (field) =>
        `${type.name}.${field} has no rule: add it to \`fields\` of ${type.name} in ${HERE}/types-*.ts if everyone who can see the object may see it, else to \`guarded\` with its rule.`,
    ),
    ...unknown.map(
      (field) => `${type.name}.${field} has a rule in ${HERE}/types-*.ts, but is not in the schema.`,
    ),
    ...twice.map((field) => `${type.name}.${field} has two rules in ${HERE}/types-*.ts.`),
    ...holderGaps(type, entry, schema),
  ];
}

function payloadGaps(type: GraphQLObjectType, schema: GraphQLSchema): string[] {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  if (mutations.some((field) => getNamedType(field.type) === type)) return [];
  return [`${type.name} is named like a payload, but no mutation returns it.`];
}

/** Every type has a path to it or is part of another type. */
function holderGaps(type: GraphQLObjectType, entry: TypeEntry, schema: GraphQLSchema): string[] {
  const { reached = [], partOf = [], guarded = {} } = entry;
  if (reached.length === 0 && partOf.length === 0)
    return [`The entry of ${type.name} has neither a path to one nor a type that contains it.`];
  const unasked = reached.length === 0 ? Object.keys(guarded) : [];
  return [
    ...unasked.map((field) => `${type.name}.${field} is guarded, but ${type.name} has no path.`),
    ...partOf
      .filter((holder) => !contains(schema, holder, type))
      .map((holder) => `${type.name} is listed as part of ${holder}, which does not contain it.`),
  ];
}

/** Whether the holder (an object type, one of its fields, or an interface) has a field of the type. */
function contains(schema: GraphQLSchema, holder: string, type: GraphQLObjectType): boolean {
  const [owner = "", field] = holder.split(".");
  const found = schema.getType(owner);
  if (isAbstractType(found)) return schema.isSubType(found, type);
  if (!isObjectType(found)) return false;
  const fields = Object.values(found.getFields()).filter(({ name }) => field === undefined || name === field);
  return fields.some((it) => {
    const answered = getNamedType(it.type);
    return answered === type || (isAbstractType(answered) && schema.isSubType(answered, type));
  });
}

function staleTypes(types: readonly GraphQLObjectType[], entries: TypeEntries): string[] {
  const known = new Set(types.map(({ name }) => name));
  return Object.keys(entries)
    .filter((name) => !known.has(name))
    .map((name) => `The type ${name} has an entry in ${HERE}/types-*.ts, but is not in the schema.`);
}
