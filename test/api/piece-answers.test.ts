/** The shortcut for pieces of text must be invisible: whatever a document selects, the answer is graphql-js's own. */
import { execute, parse, type ExecutionResult } from "graphql";
import { describe, expect, test } from "vitest";
import type { ChatEvent } from "../../src/domain/chat-stream.js";
import { answerPiecesFromTemplates } from "../../src/resolvers/piece-answers.js";
import type { Viewer } from "../../src/domain/viewer.js";
import type { Asker } from "../../src/http/answer.js";
import { SharedOperations } from "../../src/http/shared-answers.js";
import { resolvers } from "../../src/resolvers/resolvers.js";
import { buildParleySchema } from "../../src/schema/build.js";

const schema = buildParleySchema(resolvers);

function piece(sequence: number, more: object = {}): ChatEvent {
  return {
    type: "part",
    cursor: `cursor-${sequence}`,
    generation: { historyVersion: 3, attempt: sequence % 3 },
    sequence,
    role: "assistant",
    partIndex: sequence % 2,
    piece: { type: "text-delta", append: `"${sequence}" \u0000 €` },
    ...more,
  } as ChatEvent;
}

const EVENTS: ChatEvent[] = [
  piece(1),
  piece(2),
  piece(3, { piece: { type: "reasoning-delta", append: "" } }),
  piece(4, { piece: { type: "reasoning-delta", append: "hm" } }),
  piece(5, { piece: { type: "tool-input-delta", toolCallId: "c", toolName: "t", append: "{" } }),
  { type: "caught-up", cursor: "end", replayedEvents: 5 },
  piece(6),
];

const DOCUMENTS = {
  everything: `subscription ($id: ID!) { chatEvents(chatId: $id) {
    __typename ... on StreamEvent { cursor }
    ... on ChatPartEvent { generation { id attempt } sequence role partIndex piece {
      __typename ... on TextDelta { append } ... on ReasoningDelta { append } ... on ToolInputDelta { toolName append } } } } }`,
  "aliases and a field twice": `subscription ($id: ID!) { e: chatEvents(chatId: $id) {
    ... on ChatPartEvent { a: cursor b: cursor n: sequence m: sequence generation { x: id y: id } piece { ... on TextDelta { t: append u: append } } } } }`,
  "fragments and directives": `subscription ($id: ID!, $no: Boolean = false) { chatEvents(chatId: $id) { ...P } }
    fragment P on ChatEvent { ... on ChatPartEvent { cursor @include(if: $no) sequence @skip(if: $no) piece { ... on TextDelta { append } } } }`,
  "nothing of the piece": `subscription ($id: ID!) { chatEvents(chatId: $id) { ... on ChatStatusEvent { status } } }`,
};

const asking = { isPersonal: false };

describe("a piece of text is answered as if it had been executed", () => {
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
    const answer = answerPiecesFromTemplates(plain);
    for (const event of EVENTS) await answer(event, asking);
    const slow: ExecutionResult[] = [];
    for (const event of EVENTS) slow.push(await plain(event));
    executed = 0;
    const quick: ExecutionResult[] = [];
    for (const event of EVENTS) quick.push(await answer(event, asking));
    expect(JSON.parse(JSON.stringify(quick))).toEqual(JSON.parse(JSON.stringify(slow)));
    expect(JSON.stringify(slow)).not.toContain("errors");
    expect(executed).toBe(2);
  });

  test("also when executing it fails: the failure is told each time", async () => {
    const answer = answerPiecesFromTemplates(() => Promise.resolve({ errors: [], data: null }));
    expect([await answer(piece(1), asking), await answer(piece(2), asking)]).toEqual([
      { errors: [], data: null },
      { errors: [], data: null },
    ]);
  });
});

const ada: Viewer = { userId: "ada", username: "ada", name: "Ada", role: "member", expiresAt: null };
const bob: Viewer = { ...ada, userId: "bob", username: "bob" };

function askedBy(viewer: Viewer): Asker {
  return { viewer: () => viewer, createContext: () => ({ viewer }) };
}

/** As a server has it: `executions` counts what is left of graphql-js's work. */
function shareEvents(text: string) {
  const document = parse(text);
  const [definition] = document.definitions;
  if (definition?.kind !== "OperationDefinition") throw new Error("no operation");
  const operations = new SharedOperations({
    maxAnswerBytes: 16_777_216,
    schema,
    mask: (error) => ({ message: String(error) }),
    answerEvents: (plain) =>
      answerPiecesFromTemplates((event, asking) => {
        counted.executions += 1;
        return plain(event, asking);
      }),
  });
  const counted = { executions: 0 };
  const admitted = {
    document,
    operation: definition,
    operationName: undefined,
    variableValues: { id: "chat_x" },
  };
  return { counted, enter: () => operations.enter(admitted) };
}

describe("a server answers pieces of text without executing them", () => {
  test("for a subscriber who is alone: the first one teaches, the others are copies", async () => {
    const { counted, enter } = shareEvents(DOCUMENTS.everything);
    const shared = enter();
    await shared.answer(piece(1), askedBy(ada));
    for (let sequence = 2; sequence < 50; sequence += 1) await shared.answer(piece(sequence), askedBy(ada));
    expect(counted.executions).toBe(2);
  });

  test("for all subscribers, whoever they are: nothing of a piece depends on who reads it", async () => {
    const { counted, enter } = shareEvents(DOCUMENTS.everything);
    const [shared] = [enter(), enter()];
    const tool = piece(5, {
      piece: { type: "tool-input-delta", toolCallId: "c", toolName: "t", append: "{" },
    });
    const answers = [await shared.answer(tool, askedBy(ada)), await shared.answer(tool, askedBy(bob))];
    expect(answers[1]).toBe(answers[0]);
    expect(counted.executions).toBe(1);
  });
});
