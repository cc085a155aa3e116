// What the table of rights says of a schema that it does not fit, in words that tell what to do.
import { buildSchema } from "graphql";
import { expect, test } from "vitest";
import { EVERYBODY } from "./askers.js";
import { gapsIn } from "./completeness.js";
import type { RootLine, Table, TypeLine } from "./lines.js";

const line: RootLine = { rule: EVERYBODY, ask: () => ({ query: "", variables: {} }) };
const typeLine = (fields: string, more: Partial<TypeLine> = {}): TypeLine => ({
  fields,
  reached: [{ rule: EVERYBODY, at: "", ask: () => ({ query: "", variables: {} }) }],
  ...more,
});

const SCHEMA = `
  type Query { chat: Chat chats: ChatConnection }
  type Mutation { rename: RenamePayload }
  type Subscription { events: Event }
  interface UserError { code: String }
  type Gone implements UserError { code: String }
  type RenamePayload { chat: Chat userErrors: [UserError!]! }
  type Chat { id: ID secret: String }
  type ChatConnection { edges: [ChatEdge] nodes: [Chat] pageInfo: PageInfo }
  type ChatEdge { cursor: String node: Chat }
  type PageInfo { hasNextPage: Boolean }
  union Event = Said | Left
  type Said { text: String }
  type Left { at: String }
`;
const TABLE: Table = {
  queries: { chat: line, chats: line },
  changes: { rename: line },
  administration: {},
  subscriptions: { events: line },
  types: {
    Chat: typeLine("id", { guarded: { secret: EVERYBODY } }),
    Said: { fields: "text", partOf: ["Subscription.events"] },
    Left: { fields: "at", partOf: ["Event"] },
  },
};

const gaps = (added: string, table: Partial<Table> = {}) =>
  gapsIn({ ...TABLE, ...table }, buildSchema(`${SCHEMA}\n${added}`));

test("a schema that is covered completely has no gaps", () => {
  expect(gaps("")).toEqual([]);
});

test.each([
  [
    "a query",
    "extend type Query { other: Int }",
    "Query.other has no line: say in test/api/rights/queries.ts",
  ],
  ["a mutation", "extend type Mutation { other: RenamePayload }", "or administration.ts if it is an admin's"],
  ["a subscription", "extend type Subscription { other: Event }", "say in test/api/rights/subscriptions.ts"],
  ["a field", "extend type Chat { other: Int }", "Chat.other has no rule: name it in `fields` of Chat"],
  ["a list's own field", "extend type ChatConnection { total: Int }", "The type ChatConnection has no line"],
  ["a refusal's own field", "extend type Gone { since: String }", "The type Gone has no line"],
  ["a type", "type Other { id: ID } extend union Event = Other", "The type Other has no line"],
  ["a payload of nothing", "type OtherPayload { chat: Chat }", "no mutation answers it"],
])("%s without a rule is a gap", (_what, added, sentence) => {
  expect(gaps(added)).toEqual([expect.stringContaining(sentence)]);
});

test.each<[string, Partial<Table>, string]>([
  ["a query", { queries: { ...TABLE.queries, old: line } }, "Query.old has a line"],
  ["a type", { types: { ...TABLE.types, Old: typeLine("id") } }, "The type Old has a line"],
  ["a field", { types: { ...TABLE.types, Chat: typeLine("id secret old") } }, "Chat.old has a rule"],
  [
    "two rules of one field",
    { types: { ...TABLE.types, Chat: typeLine("id secret", { guarded: { secret: EVERYBODY } }) } },
    "Chat.secret has two rules",
  ],
  [
    "a part of what does not hold it",
    { types: { ...TABLE.types, Said: { fields: "text", partOf: ["Chat"] } } },
    "Said is said to be part of Chat, which does not hold it.",
  ],
  [
    "a type that is neither reached nor part of anything",
    { types: { ...TABLE.types, Said: { fields: "text" } } },
    "says neither how one is reached nor what it is part of",
  ],
  [
    "a guarded field that is never asked for",
    { types: { ...TABLE.types, Said: { fields: "", guarded: { text: EVERYBODY }, partOf: ["Event"] } } },
    "Said.text is guarded, but no way says how Said is reached.",
  ],
])("a rule for %s that does not exist is reported", (_what, table, sentence) => {
  expect(gaps("", table)).toEqual([expect.stringContaining(sentence)]);
});
