// The reported differences between the access table and a schema that does not match it.
import { buildSchema } from "graphql";
import { expect, test } from "vitest";
import { ALL_USERS } from "./callers.js";
import { gapsIn } from "./completeness.js";
import type { RootEntry, Table, TypeEntry } from "./entries.js";

const entry: RootEntry = { rule: ALL_USERS, ask: () => ({ query: "", variables: {} }) };
const typeEntry = (fields: string, more: Partial<TypeEntry> = {}): TypeEntry => ({
  fields,
  reached: [{ rule: ALL_USERS, at: "", ask: () => ({ query: "", variables: {} }) }],
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
  union Event = Sent | Left
  type Sent { text: String }
  type Left { at: String }
`;
const TABLE: Table = {
  queries: { chat: entry, chats: entry },
  changes: { rename: entry },
  administration: {},
  subscriptions: { events: entry },
  types: {
    Chat: typeEntry("id", { guarded: { secret: ALL_USERS } }),
    Sent: { fields: "text", partOf: ["Subscription.events"] },
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
    "Query.other has no entry: add one to test/api/rights/queries.ts",
  ],
  ["a mutation", "extend type Mutation { other: RenamePayload }", "or administration.ts if it is an admin's"],
  [
    "a subscription",
    "extend type Subscription { other: Event }",
    "add one to test/api/rights/subscriptions.ts",
  ],
  ["a field", "extend type Chat { other: Int }", "Chat.other has no rule: add it to `fields` of Chat"],
  ["a list's own field", "extend type ChatConnection { total: Int }", "The type ChatConnection has no entry"],
  ["a refusal's own field", "extend type Gone { since: String }", "The type Gone has no entry"],
  ["a type", "type Other { id: ID } extend union Event = Other", "The type Other has no entry"],
  ["a payload without a mutation", "type OtherPayload { chat: Chat }", "no mutation returns it"],
])("%s without a rule is a gap", (_what, added, sentence) => {
  expect(gaps(added)).toEqual([expect.stringContaining(sentence)]);
});

test.each<[string, Partial<Table>, string]>([
  ["a query", { queries: { ...TABLE.queries, old: entry } }, "Query.old has an entry"],
  ["a type", { types: { ...TABLE.types, Old: typeEntry("id") } }, "The type Old has an entry"],
  ["a field", { types: { ...TABLE.types, Chat: typeEntry("id secret old") } }, "Chat.old has a rule"],
  [
    "two rules of one field",
    { types: { ...TABLE.types, Chat: typeEntry("id secret", { guarded: { secret: ALL_USERS } }) } },
    "Chat.secret has two rules",
  ],
  [
    "a part of a type that does not contain it",
    { types: { ...TABLE.types, Sent: { fields: "text", partOf: ["Chat"] } } },
    "Sent is listed as part of Chat, which does not contain it.",
  ],
  [
    "a type that is neither reached nor part of anything",
    { types: { ...TABLE.types, Sent: { fields: "text" } } },
    "has neither a path to one nor a type that contains it",
  ],
  [
    "a guarded field that is never queried",
    { types: { ...TABLE.types, Sent: { fields: "", guarded: { text: ALL_USERS }, partOf: ["Event"] } } },
    "Sent.text is guarded, but Sent has no path.",
  ],
])("a rule for %s that does not exist is reported", (_what, table, sentence) => {
  expect(gaps("", table)).toEqual([expect.stringContaining(sentence)]);
});
