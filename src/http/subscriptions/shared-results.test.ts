import { buildSchema, parse } from "graphql";
import { describe, expect, test } from "vitest";
import type { Viewer } from "../../domain/users/viewer.js";
import type { CreateEventExecutor, Requester } from "./event-result.js";
import type { AdmittedOperation } from "../graphql/document-gate.js";
import { SharedOperations } from "./shared-results.js";

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

function asker(userId: string, viewer: { role: Viewer["role"] } = { role: "member" }): Requester {
  const now = (): Viewer => ({ userId, username: userId, name: userId, expiresAt: null, ...viewer });
  return { viewer: now, createContext: () => ({ viewer: now() }) };
}

function build(createEventExecutor: CreateEventExecutor = (execute) => execute) {
  const counted = { executions: 0 };
  const operations = new SharedOperations({
    maxResponseBytes: 16_777_216,
    schema,
    mask: (error) => ({ message: String(error) }),
    createEventExecutor: (execute, operation) => {
      const answer = createEventExecutor(execute, operation);
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

describe("operations without subscribers", () => {
  test("take no memory after a thousand rounds", () => {
    const { operations } = build();
    for (let round = 0; round < 1_000; round += 1) {
      const entered = [TEXT, TEXT, MINE].map((it) => operations.acquire(it));
      expect(operations.count).toBe(2);
      for (const shared of entered) operations.release(shared);
    }
    expect(operations.count).toBe(0);
  });

  test("are opened again for the next subscriber", () => {
    const { operations } = build();
    const first = operations.acquire(TEXT);
    operations.release(first);
    expect(operations.acquire(TEXT)).not.toBe(first);
  });
});

describe("a result", () => {
  test("is executed once for two subscribers, and each time for a single one", async () => {
    const { operations, counted } = build();
    const [event, other] = [{ text: "a" }, { text: "b" }];
    const shared = operations.acquire(TEXT);
    await shared.resultOf(event, ada, AUDIENCE);
    await shared.resultOf(event, ada, AUDIENCE);
    expect(counted.executions).toBe(2);
    operations.acquire(TEXT);
    const [one, two] = [
      await shared.resultOf(other, ada, "every_subscriber"),
      await shared.resultOf(other, asker("bob"), "every_subscriber"),
    ];
    expect(one).toBe(two);
    expect(one.json).toBe('{"data":{"events":{"text":"b"}}}');
    expect(counted.executions).toBe(3);
  });

  test("for every subscriber has no viewer: a field that needs one fails", async () => {
    const { operations } = build();
    const shared = operations.acquire(MINE);
    const { data, errors } = await shared.resultOf({}, ada, "every_subscriber");
    expect({ data, failed: errors?.map(({ path }) => path) }).toEqual({
      data: { events: { mine: null } },
      failed: [["events", "mine"]],
    });
  });

  test("for the same viewer is not shared with the same user in another role", async () => {
    const { operations } = build();
    const shared = operations.acquire(MINE);
    operations.acquire(MINE);
    const [event, rights] = [{}, { role: "member" as Viewer["role"] }];
    const changing = asker("ada", rights);
    const createContext = () => ({ viewer: { ...changing.viewer(), role: rights.role } });
    const now: Requester = { viewer: () => ({ ...changing.viewer(), role: rights.role }), createContext };
    const before = await shared.resultOf(event, now, AUDIENCE);
    rights.role = "admin";
    const after = await shared.resultOf(event, now, AUDIENCE);
    expect([before.json, after.json]).toEqual([
      '{"data":{"events":{"mine":"member"}}}',
      '{"data":{"events":{"mine":"admin"}}}',
    ]);
  });

  test("that failed is not cached", async () => {
    let isBroken = true;
    const { operations } = build((execute) => async (event, asking) => {
      if (isBroken) throw new Error("broken");
      return execute(event, asking);
    });
    const shared = operations.acquire(TEXT);
    operations.acquire(TEXT);
    const event = { text: "a" };
    await expect(
      Promise.all([shared.resultOf(event, ada, AUDIENCE), shared.resultOf(event, ada, AUDIENCE)]),
    ).rejects.toThrow("broken");
    isBroken = false;
    expect((await shared.resultOf(event, ada, AUDIENCE)).data).toEqual({ events: { text: "a" } });
  });

  test("is evicted for newer ones, however slow the last subscriber is", async () => {
    const { operations, counted } = build();
    const shared = operations.acquire(TEXT);
    operations.acquire(TEXT);
    const events = Array.from({ length: 6 }, () => ({ text: "x".repeat(1_000_000) }));
    for (const event of events) await shared.resultOf(event, ada, AUDIENCE);
    for (const event of events.slice(-3)) await shared.resultOf(event, ada, AUDIENCE);
    expect(counted.executions).toBe(6);
    expect((await shared.resultOf(events[0]!, ada, AUDIENCE)).json.length).toBeGreaterThan(1_000_000);
    expect(counted.executions).toBe(7);
  });
});
