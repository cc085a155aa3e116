// The selection of everything that a type has, as far down as asked: each field under an alias of its own, so that
// members of a union never conflict. Fields that need arguments are left out.
import {
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from "graphql";

export function selectEverything(schema: GraphQLSchema, type: GraphQLNamedType, depth: number): string {
  if (isLeafType(type)) return "";
  if (isAbstractType(type)) {
    const members = schema.getPossibleTypes(type);
    return `{ __typename ${members.map((member) => `... on ${member.name} ${selectEverything(schema, member, depth)}`).join(" ")} }`;
  }
  if (!isObjectType(type)) throw new Error(`${type.name} cannot be selected from`);
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const fieldType = getNamedType(field.type);
    if (field.args.some(isRequiredArgument) || (depth === 0 && !isLeafType(fieldType))) return [];
    return [`${type.name}_${field.name}: ${field.name} ${selectEverything(schema, fieldType, depth - 1)}`];
  });
  return `{ __typename ${fields.join(" ")} }`;
}
