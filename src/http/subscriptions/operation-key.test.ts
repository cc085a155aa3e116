import { buildSchema } from "graphql";
import { describe, expect, test } from "vitest";
import { createDocumentGate, type AdmittedOperation } from "../graphql/document-gate.js";
import { DEFAULT_HTTP_LIMITS } from "../graphql/limits.js";
import { operationKey } from "./operation-key.js";

const SDL = `
  type Query { hello: String }
  type Subscription { events(chat: ID, after: String): Event }
  type Event { text(upTo: Int, after: String): String }
`;
const gate = createDocumentGate(buildSchema(SDL), DEFAULT_HTTP_LIMITS);

function admitted(
  query: string,
  variables: Record<string, unknown> = {},
  operationName?: string,
): AdmittedOperation {
  const admission = gate.admit({ query, variables, operationName });
  if (admission.kind === "refused") throw new Error(admission.errors.join("\n"));
  return admission.operation;
}

const FOLLOW = "subscription ($chat: ID, $after: String) { events(chat: $chat, after: $after) { text } }";
const TWO = "subscription A { events { text } } subscription B { events { text(upTo: 1) } }";

describe("operations have the same key", () => {
  test("when they have the same text and the same variables", () => {
    const key = operationKey(admitted(FOLLOW, { chat: "1" }));
    expect(operationKey(admitted(FOLLOW, { chat: "1" }))).toBe(key);
    expect(key).toHaveLength(43);
  });

  test("when they only differ in their cursors", () => {
    const [first, second] = ["a", "b"].map((after) => operationKey(admitted(FOLLOW, { chat: "1", after })));
    expect(first).toBe(second);
  });
});

describe("operations have different keys", () => {
  const aliased = "subscription ($after: String) { events(after: $after) { text(after: $after) } }";
  const included =
    "subscription ($after: String, $on: Boolean!) { events(after: $after) { text @include(if: $on) } }";
  const renamed =
    "subscription ($chat: ID, $after: String) { events(chat: $chat, after: $after) { words: text } }";
  test.each([
    ["about different chats", admitted(FOLLOW, { chat: "1" }), admitted(FOLLOW, { chat: "2" })],
    ["with other names for fields", admitted(FOLLOW, { chat: "1" }), admitted(renamed, { chat: "1" })],
    ["with other fields left out", admitted(included, { on: true }), admitted(included, { on: false })],
    ["with another operation of one document", admitted(TWO, {}, "A"), admitted(TWO, {}, "B")],
    [
      "with a cursor that shapes the events too",
      admitted(aliased, { after: "a" }),
      admitted(aliased, { after: "b" }),
    ],
  ])("%s", (_name, one, other) => {
    expect(operationKey(one)).not.toBe(operationKey(other));
  });
});
