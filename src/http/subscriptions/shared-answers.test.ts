import { buildSchema, parse } from "graphql";
import { describe, expect, test } from "vitest";
import type { Viewer } from "../../domain/users/viewer.js";
import type { AnswerEvents, Asker } from "./answer.js";
import type { AdmittedOperation } from "../graphql/document-gate.js";
import { SharedOperations } from "./shared-answers.js";

const schema = buildSchema(`
  type Query { hello: String }
  type Subscription { events(chat: ID): Event }
  type Event { text: String mine: String }
`);
schema.getSubscriptionType()!.getFields()["events"]!.resolve = (event) => event;
const mine = (
  schema.getType("Event") as never as { getFields(): Record<string, { resolve: unknown }> }
).getFields();
mine["mine"]!.resolve = (_event: unknown, _args: unknown, context: { viewer: Viewer }) => context.viewer.role;

function operation(query: string): AdmittedOperation {
  const document = parse(query);
  const [definition] = document.definitions;
  if (definition?.kind !== "OperationDefinition") throw new Error("no operation");
  return { document, operation: definition, operationName: undefined, variableValues: undefined, cost: 1 };
}

const TEXT = operation("subscription { events { text } }");
const MINE = operation("subscription { events { mine } }");

function asker(userId: string, viewer: { role: Viewer["role"] } = { role: "member" }): Asker {
  const now = (): Viewer => ({ userId, username: userId, name: userId, expiresAt: null, ...viewer });
  return { viewer: now, createContext: () => ({ viewer: now() }) };
}

function build(answerEvents: AnswerEvents = (execute) => execute) {
  const counted = { executions: 0 };
  const operations = new SharedOperations({
    maxAnswerBytes: 16_777_216,
    schema,
    mask: (error) => ({ message: String(error) }),
    answerEvents: (execute, operation) => {
      const answer = answerEvents(execute, operation);
      return (event, asking) => {
        counted.executions += 1;
        return answer(event, asking);
      };
    },
  });
  return { operations, counted };
}

const ada = asker("ada");
const AUDIENCE = "same_viewer";

describe("operations that nobody has any more", () => {
  test("take no memory after a thousand rounds", () => {
    const { operations } = build();
    for (let round = 0; round < 1_000; round += 1) {
      const entered = [TEXT, TEXT, MINE].map((it) => operations.enter(it));
      expect(operations.count).toBe(2);
      for (const shared of entered) operations.leave(shared);
    }
    expect(operations.count).toBe(0);
  });

  test("are opened anew for who comes next", () => {
    const { operations } = build();
    const first = operations.enter(TEXT);
    operations.leave(first);
    expect(operations.enter(TEXT)).not.toBe(first);
  });
});

describe("an answer", () => {
  test("is made once for two subscribers, and for one alone each time it is asked for", async () => {
    const { operations, counted } = build();
    const [event, other] = [{ text: "a" }, { text: "b" }];
    const shared = operations.enter(TEXT);
    await shared.answer(event, ada, AUDIENCE);
    await shared.answer(event, ada, AUDIENCE);
    expect(counted.executions).toBe(2);
    operations.enter(TEXT);
    const [one, two] = [
      await shared.answer(other, ada, "every_subscriber"),
      await shared.answer(other, asker("bob"), "every_subscriber"),
    ];
    expect(one).toBe(two);
    expect(one.json).toBe('{"data":{"events":{"text":"b"}}}');
    expect(counted.executions).toBe(3);
  });

  test("declared for every subscriber has no viewer to depend on: a field that asks for one fails", async () => {
    const { operations } = build();
    const shared = operations.enter(MINE);
    const { data, errors } = await shared.answer({}, ada, "every_subscriber");
    expect({ data, failed: errors?.map(({ path }) => path) }).toEqual({
      data: { events: { mine: null } },
      failed: [["events", "mine"]],
    });
  });

  test("for the same viewer is not given to the same user in another role", async () => {
    const { operations } = build();
    const shared = operations.enter(MINE);
    operations.enter(MINE);
    const [event, rights] = [{}, { role: "member" as Viewer["role"] }];
    const changing = asker("ada", rights);
    const createContext = () => ({ viewer: { ...changing.viewer(), role: rights.role } });
    const now: Asker = { viewer: () => ({ ...changing.viewer(), role: rights.role }), createContext };
    const before = await shared.answer(event, now, AUDIENCE);
    rights.role = "admin";
    const after = await shared.answer(event, now, AUDIENCE);
    expect([before.json, after.json]).toEqual([
      '{"data":{"events":{"mine":"member"}}}',
      '{"data":{"events":{"mine":"admin"}}}',
    ]);
  });

  test("that could not be made is not remembered", async () => {
    let isBroken = true;
    const { operations } = build((execute) => async (event, asking) => {
      if (isBroken) throw new Error("broken");
      return execute(event, asking);
    });
    const shared = operations.enter(TEXT);
    operations.enter(TEXT);
    const event = { text: "a" };
    await expect(
      Promise.all([shared.answer(event, ada, AUDIENCE), shared.answer(event, ada, AUDIENCE)]),
    ).rejects.toThrow("broken");
    isBroken = false;
    expect((await shared.answer(event, ada, AUDIENCE)).data).toEqual({ events: { text: "a" } });
  });

  test("is forgotten when newer ones take its place, however slow the last subscriber is", async () => {
    const { operations, counted } = build();
    const shared = operations.enter(TEXT);
    operations.enter(TEXT);
    const events = Array.from({ length: 6 }, () => ({ text: "x".repeat(1_000_000) }));
    for (const event of events) await shared.answer(event, ada, AUDIENCE);
    for (const event of events.slice(-3)) await shared.answer(event, ada, AUDIENCE);
    expect(counted.executions).toBe(6);
    expect((await shared.answer(events[0]!, ada, AUDIENCE)).json.length).toBeGreaterThan(1_000_000);
    expect(counted.executions).toBe(7);
  });
});
