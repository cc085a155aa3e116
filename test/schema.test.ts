// The design rules of the API, and the committed SDL.
import { readFileSync } from "node:fs";
import {
  type GraphQLField,
  type GraphQLNamedType,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLNonNull,
  GraphQLObjectType,
  getNamedType,
  graphql,
  isAbstractType,
  isIntrospectionType,
  isLeafType,
  isListType,
  isNonNullType,
  parse,
  specifiedScalarTypes,
  validate,
} from "graphql";
import { expect, test } from "vitest";
import { resolvers } from "../src/resolvers/resolvers.js";
import { ENDING_MUTATIONS } from "../src/domain/common/full-disk.js";
import { buildParleySchema, printParleySchema } from "../src/schema/build.js";

const schema = buildParleySchema(resolvers);
const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !specifiedScalarTypes.some((scalar) => scalar.name === type.name),
);
const withFields = types.filter(
  (type): type is GraphQLObjectType | GraphQLInterfaceType =>
    type instanceof GraphQLObjectType || type instanceof GraphQLInterfaceType,
);
const outputFields = withFields.flatMap((type) =>
  Object.values(type.getFields()).map((field) => ({
    owner: type,
    field,
    path: `${type.name}.${field.name}`,
  })),
);

function named(name: string): GraphQLNamedType {
  const type = schema.getType(name);
  if (!type) throw new Error(`${name} is missing.`);
  return type;
}

test("schema.graphql is the schema (run scripts/emit-schema.ts after a change)", () => {
  const committed = readFileSync(new URL("../schema.graphql", import.meta.url), "utf8");
  expect(printParleySchema(schema)).toBe(committed);
});

test("everything is described: types, fields, arguments, enum values", () => {
  const elements = types.flatMap((type): [string, string | null | undefined][] => {
    const own: [string, string | null | undefined] = [type.name, type.description];
    if (type instanceof GraphQLEnumType) {
      return [own, ...type.getValues().map((it): typeof own => [`${type.name}.${it.name}`, it.description])];
    }
    if (type instanceof GraphQLInputObjectType) {
      const fields = Object.values(type.getFields());
      return [own, ...fields.map((it): typeof own => [`${type.name}.${it.name}`, it.description])];
    }
    return [own];
  });
  const fields = outputFields.flatMap(({ field, path }): [string, string | null | undefined][] => [
    [path, field.description],
    ...field.args.map((it): [string, string | null | undefined] => [`${path}(${it.name})`, it.description]),
  ]);
  expect([...elements, ...fields].filter(([, text]) => !text).map(([name]) => name)).toEqual([]);
});

test("a mutation takes an input and returns a payload of its name, with userErrors", () => {
  const wrong = Object.values(schema.getMutationType()?.getFields() ?? {}).filter((field) => {
    const name = field.name.charAt(0).toUpperCase() + field.name.slice(1);
    const payload = getNamedType(field.type);
    return (
      field.args.map((it) => `${it.name}: ${String(it.type)}`).join() !== `input: ${name}Input!` ||
      String(field.type) !== `${name}Payload!` ||
      !(payload instanceof GraphQLObjectType) ||
      String(payload.getFields()["userErrors"]?.type) !== "[UserError!]!"
    );
  });
  expect(wrong.map((field) => field.name)).toEqual([]);
});

test("lists are [T!]!, except nodes(ids:), whose items may be null, and lists that may be unavailable", () => {
  const isWhole = (field: GraphQLField<unknown, unknown>) => {
    const list = isNonNullType(field.type) ? field.type.ofType : field.type;
    if (!isListType(list)) return true;
    return isNonNullType(field.type) && list.ofType instanceof GraphQLNonNull;
  };
  expect(
    outputFields
      .filter(({ field, path }) => !isWhole(field) && !/^(UserError|.*)\.path$/.test(path))
      .map(({ path }) => path),
  ).toEqual([
    "QueuedMessage.fullParts",
    "WorkspaceAgent.mcpTools",
    "McpServer.tools",
    "TemplateParameter.options",
    "Query.nodes",
    "ModelDiscovery.models",
    "McpServerTestResult.tools",
  ]);
});

/** Settings named like their input fields. */
const SETTINGS = ["WorkspaceTemplate.allowTtlOverride"];

test("boolean fields start with is or has", () => {
  const wrong = outputFields.filter(
    ({ field }) => getNamedType(field.type).name === "Boolean" && !/^(is|has)[A-Z]/.test(field.name),
  );
  expect(wrong.map(({ path }) => path)).toEqual(SETTINGS);
});

// Reserved by Relay: its compiler treats every type with such a name as a connection.
test("types ending in Connection have edges with cursors, nodes and pageInfo, and can be paged forwards", () => {
  const shapes = types
    .filter((type) => type.name.endsWith("Connection"))
    .map((type) => {
      const node = type.name.slice(0, -"Connection".length);
      const fieldsOf = (it: GraphQLNamedType) =>
        it instanceof GraphQLObjectType
          ? Object.values(it.getFields()).map((field) => `${field.name}: ${String(field.type)}`)
          : [];
      expect(fieldsOf(named(`${node}Edge`))).toEqual(["cursor: String!", `node: ${node}!`]);
      // A connection may also have the total of the whole list.
      const shape = fieldsOf(type).filter((field) => field !== "totalMicros: Micros!");
      expect(shape).toEqual([`edges: [${node}Edge!]!`, `nodes: [${node}!]!`, "pageInfo: PageInfo!"]);
      const lists = outputFields.filter(({ field }) => getNamedType(field.type) === type);
      return lists.every(({ field }) =>
        ["first", "after"].every((name) => field.args.some((it) => it.name === name)),
      );
    });
  expect(shapes.length).toBeGreaterThan(0);
  expect(shapes).not.toContain(false);
});

/** The possible types of all unions and interfaces. */
const families = types
  .filter((type) => isAbstractType(type))
  .map((type) => ({ name: type.name, members: schema.getPossibleTypes(type) }));

/** Fields with different meanings on different nodes, which no document selects together. */
const OF_DIFFERENT_KINDS = ["admin", "author", "createdAt", "lastUsedAt", "role", "status"];

test("members of a union or an interface that share a field share its type, null or not", () => {
  const differing = families.flatMap(({ name, members }) => {
    const seen = new Map<string, string>();
    const fields = members.flatMap((member) => Object.values(member.getFields()));
    const conflicts = fields.filter((field) => {
      const known = seen.get(field.name) ?? String(field.type);
      seen.set(field.name, known);
      return known !== String(field.type);
    });
    return [...new Set(conflicts.map((field) => `${name}.${field.name}`))];
  });
  expect(differing.sort()).toEqual(OF_DIFFERENT_KINDS.map((field) => `Node.${field}`));
});

/** Everything that can be selected of a type without arguments, `depth` objects deep. */
function everythingOf(type: GraphQLObjectType, depth: number): string {
  const selected = Object.values(type.getFields()).flatMap((field) => {
    if (field.args.some((argument) => isNonNullType(argument.type))) return [];
    const target = getNamedType(field.type);
    if (isLeafType(target)) return [field.name];
    const within = selectionOf(target, depth - 1);
    return within === "" ? [] : [`${field.name} { ${within} }`];
  });
  return selected.join(" ");
}

function selectionOf(type: GraphQLNamedType, depth: number): string {
  if (depth < 0) return "";
  if (type instanceof GraphQLObjectType) return everythingOf(type, depth);
  if (!isAbstractType(type)) return "";
  const members = schema.getPossibleTypes(type);
  const whole = members.map((member) => [member.name, everythingOf(member, depth)]);
  return `__typename ${whole.flatMap(([name, fields]) => (fields ? [`... on ${name} { ${fields} }`] : [])).join(" ")}`;
}

test.each(["chatEvents(chatId: $chatId)", "chatListEvents"])(
  "one document may select everything of every event of %s",
  (field) => {
    const [name = ""] = field.split("(");
    const root = schema.getSubscriptionType()?.getFields()[name];
    if (!root) throw new Error(`There is no ${name}.`);
    const variables = field.includes("$") ? "($chatId: ID!)" : "";
    const document = `subscription ${variables} { ${field} { ${selectionOf(getNamedType(root.type), 3)} } }`;
    expect(document.length).toBeGreaterThan(1_000);
    expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([]);
  },
);

test("every object with a global ID has createdAt", () => {
  const implementers = schema.getPossibleTypes(named("Node") as GraphQLInterfaceType);
  const created = implementers.map((type) => `${type.name} ${String(type.getFields()["createdAt"]?.type)}`);
  // A deleted file still appears in messages.
  expect(created.filter((it) => !it.endsWith(" DateTime!"))).toEqual(["File DateTime"]);
});

test("outputs link to objects instead of naming their ids", () => {
  const wrong = outputFields.filter(({ field }) => /Ids?$/.test(field.name));
  // A deleted object is only an ID, a tool call's ID is the vendor's, an OAuth client is another server's, and a request is
  // not an object.
  const known =
    /\.(deletedId|toolCallId|oauthClientId|requestId)$|^ChatRemovedEvent\.chatId$|^AuditLogEntry\.targetId$/;
  expect(wrong.map(({ path }) => path).filter((path) => !known.test(path))).toEqual([]);
});

test("every kind of user error has its own type", () => {
  const implementers = schema.getPossibleTypes(named("UserError") as GraphQLInterfaceType);
  expect(implementers.map((type) => type.name).sort()).toEqual([
    "Conflict",
    "InvalidInput",
    "McpAuthRequired",
    "NotFound",
    "ProviderKeyRequired",
    "StorageLimitExceeded",
    "UsageLimitExceeded",
    "WorkspaceUnavailable",
  ]);
});

test("every event has a cursor", () => {
  const query = `subscription { chatEvents(chatId: "x") { ... on StreamEvent { cursor } } }`;
  const events = schema.getPossibleTypes(named("StreamEvent") as GraphQLInterfaceType);
  const union = schema.getPossibleTypes(named("ChatEvent") as GraphQLInterfaceType);
  expect(validate(schema, parse(query))).toEqual([]);
  expect(union.filter((type) => !events.includes(type))).toEqual([]);
});

test.each([
  ["no field", "{}", 1],
  [
    "two fields",
    `{ text: { text: "a" }, fileReference: { path: "a", startLine: 1, endLine: 1, content: "" } }`,
    1,
  ],
  ["a null field", "{ text: null }", 1],
  ["one field", `{ text: { text: "a" } }`, 0],
])("a message part with %s is validated with the document", (_name, part, mistakes) => {
  const document = `mutation { createChat(input: { parts: [${part}] }) { userErrors { code } } }`;
  expect(validate(schema, parse(document))).toHaveLength(mistakes);
});

test("a message part with two fields is refused in variables, too", async () => {
  const result = await graphql({
    schema,
    source: "mutation ($input: CreateChatInput!) { createChat(input: $input) { userErrors { code } } }",
    variableValues: {
      input: {
        parts: [{ text: { text: "a" }, fileReference: { path: "a", startLine: 1, endLine: 1, content: "" } }],
      },
    },
  });
  expect(result.errors?.map((error) => error.message)).toEqual([
    expect.stringContaining('Exactly one key must be specified for OneOf type "MessagePartInput"'),
  ]);
});

test("no abstract type needs a promise to resolve its type", () => {
  const resolving = types.filter((type) => "resolveType" in type && type.resolveType !== undefined);
  expect(resolving).toEqual([]);
});

test("plain fields have no resolver function", () => {
  const hot = ["ChatPartEvent", "Generation", "TextDelta", "ChatMessage", "Chat", "PageInfo"];
  const linked = outputFields
    .filter(({ owner, field }) => hot.includes(owner.name) && field.resolve !== undefined)
    .map(({ path }) => path);
  expect(linked.sort()).toEqual([
    "Chat.contextUsage",
    "Chat.cost",
    "Chat.diff",
    "Chat.diffStatus",
    "Chat.files",
    "Chat.git",
    "Chat.isUnread",
    "Chat.lastTurnSummary",
    "Chat.mcpServers",
    "Chat.messages",
    "Chat.modelConfig",
    "Chat.owner",
    "Chat.parent",
    "Chat.queuedMessages",
    "Chat.root",
    "Chat.subagents",
    "Chat.workspace",
    "ChatMessage.author",
    "ChatMessage.chat",
    "ChatMessage.modelConfig",
  ]);
});

test("mutations allowed while the disk is full exist", () => {
  const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {});
  expect([...ENDING_MUTATIONS].filter((name) => !mutations.includes(name))).toEqual([]);
});
