/** The shortcut for deltas must be invisible: whatever a document selects, the answer is graphql-js's own. */
import { execute, isObjectType, parse, type ExecutionResult } from "graphql";
import { describe, expect, test } from "vitest";
import type { ChatEvent } from "../../../src/domain/chats/chat-stream.js";
import { audienceOfChatEvent } from "../../../src/domain/chats/chat-stream.js";
import { answerDeltasFromTemplates } from "../../../src/resolvers/chats/delta-answers.js";
import type { Viewer } from "../../../src/domain/users/viewer.js";
import type { Requester } from "../../../src/http/subscriptions/event-result.js";
import { type SharedOperation, SharedOperations } from "../../../src/http/subscriptions/shared-results.js";
import { resolvers } from "../../../src/resolvers/resolvers.js";
import { buildParleySchema } from "../../../src/schema/build.js";

const schema = buildParleySchema(resolvers);

function deltaEvent(sequence: number, more: object = {}): ChatEvent {
  return {
    type: "part",
    cursor: `cursor-${sequence}`,
    generation: {
      historyVersion: 3,
      attempt: sequence % 3,
      startedAt: sequence === 2 ? null : 1_763_700_000_000 + sequence,
    },
    sequence,
    role: "assistant",
    partIndex: sequence % 2,
    delta: { type: "text-delta", append: `"${sequence}" \u0000 €` },
    ...more,
  } as ChatEvent;
}

const EVENTS: ChatEvent[] = [
  deltaEvent(1),
  deltaEvent(2),
  deltaEvent(3, { delta: { type: "reasoning-delta", append: "" } }),
  deltaEvent(4, { delta: { type: "reasoning-delta", append: "hm" } }),
  deltaEvent(5, { delta: { type: "tool-input-delta", toolCallId: "c", toolName: "t", append: "{" } }),
  { type: "caught-up", cursor: "end", replayedEvents: 5 },
  deltaEvent(6),
  deltaEvent(7, { role: "tool", delta: { type: "tool-output-delta", toolCallId: "c", append: "out" } }),
];

const DOCUMENTS = {
  everything: `subscription ($id: ID!) { chatEvents(chatId: $id) {
    __typename ... on StreamEvent { cursor }
    ... on ChatPartEvent { generation { id attempt startedAt } sequence role partIndex delta {
      __typename ... on TextDelta { append } ... on ReasoningDelta { append } ... on ToolInputDelta { toolName append } ... on ToolOutputDelta { toolCallId append } } } } }`,
  "aliases and a field twice": `subscription ($id: ID!) { e: chatEvents(chatId: $id) {
    ... on ChatPartEvent { a: cursor b: cursor n: sequence m: sequence generation { x: id y: id at: startedAt } delta { ... on TextDelta { t: append u: append } } } } }`,
  "fragments and directives": `subscription ($id: ID!, $no: Boolean = false) { chatEvents(chatId: $id) { ...P } }
    fragment P on ChatEvent { ... on ChatPartEvent { cursor @include(if: $no) sequence @skip(if: $no) delta { ... on TextDelta { append } } } }`,
  "variables with defaults": `subscription ($id: ID!, $part: Boolean! = true) { chatEvents(chatId: $id) {
    ... on ChatPartEvent @include(if: $part) { delta { ... on TextDelta @skip(if: $part) { append } ... on ReasoningDelta { append } } } } }`,
  "nothing of the delta": `subscription ($id: ID!) { chatEvents(chatId: $id) { ... on ChatStatusEvent { status } } }`,
};

describe("a delta's result is the same as that of an execution", () => {
  test.each(Object.entries(DOCUMENTS))("when a document selects %s", async (_name, text) => {
    const document = parse(text);
    let executed = 0;
    const plain = (event: unknown) => {
      executed += 1;
      return execute({
        schema,
        document,
        rootValue: event,
        variableValues: { id: "chat_x" },
        contextValue: {},
      });
    };
    const variableValues = { id: "chat_x" };
    const operation = { schema, document, operationName: undefined, variableValues };
    const answer = answerDeltasFromTemplates<null>(plain, operation);
    const slow: ExecutionResult[] = [];
    for (const event of EVENTS) slow.push(await plain(event));
    executed = 0;
    const quick: ExecutionResult[] = [];
    for (const event of EVENTS) quick.push(await answer(event, null));
    expect(JSON.parse(JSON.stringify(quick))).toEqual(JSON.parse(JSON.stringify(slow)));
    expect(JSON.stringify(slow)).not.toContain("errors");
    expect(executed).toBe(1);
  });
});

test("a delta with a selected field that has a resolver is executed", async () => {
  const resolved = buildParleySchema(resolvers);
  const generation = resolved.getType("Generation");
  if (!isObjectType(generation)) throw new Error("no Generation");
  generation.getFields()["id"]!.resolve = () => "resolved";
  const document = parse(DOCUMENTS.everything);
  const executed = { data: { chatEvents: null } };
  const operation = {
    schema: resolved,
    document,
    operationName: undefined,
    variableValues: { id: "chat_x" },
  };
  expect(await answerDeltasFromTemplates<null>(() => executed, operation)(deltaEvent(1), null)).toBe(
    executed,
  );
});

const ada: Viewer = { userId: "ada", username: "ada", name: "Ada", role: "member", expiresAt: null };
const bob: Viewer = { ...ada, userId: "bob", username: "bob" };

function askedBy(viewer: Viewer): Requester {
  return { viewer: () => viewer, createContext: () => ({ viewer }) };
}

/** Configured as in a server. `executions` counts the executions that still go through graphql-js. */
function shareEvents(text: string) {
  const document = parse(text);
  const [definition] = document.definitions;
  if (definition?.kind !== "OperationDefinition") throw new Error("no operation");
  const operations = new SharedOperations({
    maxResponseBytes: 16_777_216,
    schema,
    mask: (error) => ({ message: String(error) }),
    createEventExecutor: (plain, operation) =>
      answerDeltasFromTemplates((event, asking) => {
        counted.executions += 1;
        return plain(event, asking);
      }, operation),
  });
  const counted = { executions: 0 };
  const admitted = {
    document,
    operation: definition,
    operationName: undefined,
    variableValues: { id: "chat_x" },
    cost: 1,
  };
  return { counted, enter: () => operations.acquire(admitted) };
}

describe("a server delivers deltas without executing them", () => {
  const answer = (shared: SharedOperation, event: ChatEvent, viewer: Viewer) =>
    shared.resultOf(event, askedBy(viewer), audienceOfChatEvent(event));

  test("for a single subscriber", async () => {
    const { counted, enter } = shareEvents(DOCUMENTS.everything);
    const shared = enter();
    for (let sequence = 1; sequence < 50; sequence += 1) await answer(shared, deltaEvent(sequence), ada);
    expect(counted.executions).toBe(0);
  });

  test("once for all subscribers, as no delta depends on the viewer", async () => {
    const { enter } = shareEvents(DOCUMENTS.everything);
    const [shared] = [enter(), enter()];
    const event = deltaEvent(1);
    expect(await answer(shared, event, bob)).toBe(await answer(shared, event, ada));
  });
});
