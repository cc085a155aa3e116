// What the schema has and the table of rights does not speak of, or the other way round, in sentences. Pure.
import {
  getNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
} from "graphql";
import { linesOf, names, type RootLines, type Table, type TypeLine, type TypeLines } from "./lines.js";

const HERE = "test/api/rights";
/** What lists have in common: who may have the list may have these. */
const OF_LISTS: Record<string, readonly string[]> = {
  Connection: ["edges", "nodes", "pageInfo"],
  Edge: ["cursor", "node"],
};
/** What refusals have in common. */
const REFUSAL = "UserError";

/** Empty when every field of the schema has a rule and every rule a field. */
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

function rootGaps(root: GraphQLObjectType | null | undefined, lines: RootLines, file: string): string[] {
  if (!root) return [];
  const fields = Object.keys(root.getFields());
  const unspoken = fields.filter((field) => linesOf(lines[field]).length === 0);
  const unknown = Object.keys(lines).filter((field) => !fields.includes(field));
  return [
    ...unspoken.map((field) => `${root.name}.${field} has no line: say in ${HERE}/${file}, who gets it.`),
    ...unknown.map(
      (field) => `${root.name}.${field} has a line in ${HERE}/${file}, but is not in the schema.`,
    ),
  ];
}

/** Fields that nothing needs to be said about. */
function commonFields(type: GraphQLObjectType): readonly string[] {
  const ending = Object.keys(OF_LISTS).find((it) => type.name.endsWith(it));
  if (ending !== undefined) return OF_LISTS[ending] ?? [];
  return type.getInterfaces().flatMap((it) => (it.name === REFUSAL ? Object.keys(it.getFields()) : []));
}

function typeGaps(type: GraphQLObjectType, lines: TypeLines, schema: GraphQLSchema): string[] {
  // What a mutation answers is the mutation's, and what a page says of itself is the list's.
  if (type.name.endsWith("Payload")) return payloadGaps(type, schema);
  if (type.name === "PageInfo") return [];
  const common = commonFields(type);
  const wanted = Object.keys(type.getFields()).filter((field) => !common.includes(field));
  const line = lines[type.name];
  if (line === undefined) {
    return wanted.length === 0
      ? []
      : [
          `The type ${type.name} has no line: say in ${HERE}/types-*.ts who gets its fields and how one is reached.`,
        ];
  }
  const named = [...names(line.fields), ...Object.keys(line.guarded ?? {})];
  const unspoken = wanted.filter((field) => !named.includes(field));
  const unknown = named.filter((field) => !wanted.includes(field));
  const twice = named.filter((field, place) => named.indexOf(field) !== place);
  return [
    ...unspoken.map(
      (field) =>
        `${type.name}.${field} has no rule: name it in \`fields\` of ${type.name} in ${HERE}/types-*.ts if everybody may see it who has got the object, else in \`guarded\` with who may.`,
    ),
    ...unknown.map(
      (field) => `${type.name}.${field} has a rule in ${HERE}/types-*.ts, but is not in the schema.`,
    ),
    ...twice.map((field) => `${type.name}.${field} has two rules in ${HERE}/types-*.ts.`),
    ...holderGaps(type, line, schema),
  ];
}

function payloadGaps(type: GraphQLObjectType, schema: GraphQLSchema): string[] {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  if (mutations.some((field) => getNamedType(field.type) === type)) return [];
  return [`${type.name} is named like a mutation's answer, but no mutation answers it.`];
}

/** A type is reached, or it is what something else holds. */
function holderGaps(type: GraphQLObjectType, line: TypeLine, schema: GraphQLSchema): string[] {
  const { reached = [], partOf = [], guarded = {} } = line;
  if (reached.length === 0 && partOf.length === 0)
    return [`The line of ${type.name} says neither how one is reached nor what it is part of.`];
  const unasked = reached.length === 0 ? Object.keys(guarded) : [];
  return [
    ...unasked.map(
      (field) => `${type.name}.${field} is guarded, but no way says how ${type.name} is reached.`,
    ),
    ...partOf
      .filter((holder) => !holds(schema, holder, type))
      .map((holder) => `${type.name} is said to be part of ${holder}, which does not hold it.`),
  ];
}

/** Whether the holder, an object type, one field of one, or an interface, leads to the type at once. */
function holds(schema: GraphQLSchema, holder: string, type: GraphQLObjectType): boolean {
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

function staleTypes(types: readonly GraphQLObjectType[], lines: TypeLines): string[] {
  const known = new Set(types.map(({ name }) => name));
  return Object.keys(lines)
    .filter((name) => !known.has(name))
    .map((name) => `The type ${name} has a line in ${HERE}/types-*.ts, but is not in the schema.`);
}
