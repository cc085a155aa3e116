// Redaction of variable errors, with the messages of graphql-js as input.
import { buildSchema, graphqlSync } from "graphql";
import { expect, test } from "vitest";
import { withoutValues } from "./variable-errors.js";

const schema = buildSchema(`
  input Secret @oneOf { set: String clear: Boolean }
  input Auth { header: String! value: Secret kind: Kind }
  enum Kind { A B }
  type Query { a(auth: Auth, list: [Int!], n: Int): Int }
`);
const SECRET = 's3cret; String at "input"; cannot';

function messagesFor(variables: Record<string, unknown>): string[] {
  const source = "query ($auth: Auth, $list: [Int!], $n: Int) { a(auth: $auth, list: $list, n: $n) }";
  const { errors = [] } = graphqlSync({ schema, source, variableValues: variables });
  return errors.map(({ message }) => withoutValues(message));
}

test.each<[string, Record<string, unknown>, string]>([
  [
    "a list where a word belongs",
    { auth: { header: "x", value: { set: [SECRET] } } },
    'Variable "$auth" got invalid value at "auth.value.set"; String cannot represent this value.',
  ],
  [
    "a word where an object belongs",
    { auth: { header: "x", value: SECRET } },
    'Variable "$auth" got invalid value at "auth.value"; Expected type "Secret" to be an object.',
  ],
  [
    "a field that is missing",
    { auth: { value: { set: SECRET } } },
    'Variable "$auth" got invalid value; Field "header" of required type "String!" was not provided.',
  ],
  [
    "two of what is one",
    { auth: { header: "x", value: { set: SECRET, clear: true } } },
    'Variable "$auth" got invalid value at "auth.value"; Exactly one key must be specified for OneOf type "Secret".',
  ],
  [
    "a field that does not exist",
    { auth: { header: "x", value: { set: "y" }, s3cret: SECRET } },
    'Variable "$auth" got invalid value; It has a field or a value that its type does not have.',
  ],
  [
    "a word of no enumeration",
    { auth: { header: "x", kind: SECRET } },
    'Variable "$auth" got invalid value at "auth.kind"; There is no such value in "Kind" enum.',
  ],
  [
    "a list with a hole",
    { list: [1, null] },
    'Variable "$list" got invalid value at "list[1]"; Expected non-nullable type "Int!" not to be null.',
  ],
])("%s does not quote the value", (_name, variables, message) => {
  const messages = messagesFor(variables);
  expect(messages).toContain(message);
  expect(messages.join()).not.toContain("s3cret");
});

test("the error about a scalar variable quotes its value", () => {
  expect(messagesFor({ n: "many" })).toEqual([
    'Variable "$n" got invalid value "many"; Int cannot represent non-integer value: "many"',
  ]);
});
