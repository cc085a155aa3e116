// Mutations and events through the schema: user errors and GraphQL errors, payloads, and the shapes of events.
import { randomUUID } from "node:crypto";
import { parse, subscribe } from "graphql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChatEvent } from "../../../src/domain/chats/chat-stream.js";
import { encodeId } from "../../../src/domain/common/ids.js";
import type { Viewer } from "../../../src/domain/users/viewer.js";
import type { Commands } from "../../../src/commands/commands.js";
import type { CommandRefusal } from "../../../src/commands/common/command-result.js";
import type { Context } from "../../../src/resolvers/common/context.js";
import { Database } from "../../../src/store/common/database.js";
import { type TestDatabase, createTestDatabase } from "../../support/database/database.js";
import { insertChat, insertViewer } from "../../support/database/rows.js";
import {
  type Ask,
  askingOver,
  contextOf,
  neverAsked,
  problems,
  refusing,
  schema,
} from "../../support/users/schema-caller.js";

let own: TestDatabase;
let db: Database;
let ask: Ask;
let anna: Viewer;
let bert: Viewer;
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
  ask = askingOver(db);
  [anna, bert] = [await insertViewer(db), await insertViewer(db)];
});
afterAll(() => own.drop());

describe("refusals", () => {
  const send = `mutation ($input: SendChatMessageInput!) { sendChatMessage(input: $input) {
    chat { id } message { id } eventCursor
    userErrors { __typename code message path ... on Conflict { currentStatus } } } }`;
  const input = { chatId: encodeId("chat", randomUUID()), parts: [{ text: { text: "hi" } }] };
  const refused = (userErrors: object[]) => ({
    data: { sendChatMessage: { chat: null, message: null, eventCursor: null, userErrors } },
  });

  test.each<[CommandRefusal, object]>([
    [
      { code: "NOT_FOUND", message: "No chat.", path: ["chatId"] },
      { __typename: "NotFound", code: "NOT_FOUND", message: "No chat.", path: ["chatId"] },
    ],
    [
      { code: "CONFLICT", message: "Archived.", currentStatus: "waiting" },
      {
        __typename: "Conflict",
        code: "CONFLICT",
        message: "Archived.",
        path: null,
        currentStatus: "WAITING",
      },
    ],
    [
      { code: "LIMIT_EXCEEDED", message: "Full." },
      { __typename: "Conflict", code: "LIMIT_EXCEEDED", message: "Full.", path: null, currentStatus: null },
    ],
    [
      { code: "UNAVAILABLE", message: "Away." },
      { __typename: "WorkspaceUnavailable", code: "UNAVAILABLE", message: "Away.", path: null },
    ],
    [
      { code: "UNAVAILABLE", message: "No key.", path: ["modelConfigId"] },
      {
        __typename: "Conflict",
        code: "UNAVAILABLE",
        message: "No key.",
        path: ["modelConfigId"],
        currentStatus: null,
      },
    ],
    [
      { code: "INVALID", message: "Bad.", path: ["parts", "0"] },
      { __typename: "InvalidInput", code: "INVALID", message: "Bad.", path: ["parts", "0"] },
    ],
  ])("of a command are returned in the payload (%#)", async (refusal, shown) => {
    const result = await ask(anna, send, { input }, { commands: refusing(refusal) });
    expect(result).toEqual(refused([shown]));
  });

  test("of invalid input are returned all at once, without calling a command", async () => {
    const parts = [{ text: { text: " " } }];
    const result = await ask(anna, send, { input: { ...input, parts, idempotencyKey: "" } });
    const userErrors = result.data?.["sendChatMessage"] as { userErrors: { path: string[] }[] };
    expect(userErrors.userErrors.map((error) => error.path)).toEqual([
      ["parts", "0", "text", "text"],
      ["idempotencyKey"],
    ]);
  });

  test("an ID of another kind is a client error, not a user error", async () => {
    const result = await ask(anna, send, { input: { ...input, chatId: "ws_1" } });
    expect(problems(result)).toEqual([
      [
        "BAD_USER_INPUT",
        'chatId must be the ID of a chat (chat_…), but is "ws_1", which is not an ID of this server.',
      ],
    ]);
  });
});

test("a payload shows the chat after the change, even if the same operation read it before", async () => {
  const chatId = await insertChat(db, { ownerId: anna.userId, title: "before" });
  const archiveChat = async (): ReturnType<Commands["archiveChat"]> => {
    await own.dataSource.query("UPDATE chats SET title = title || '+' WHERE id = $1", [chatId]);
    return { ok: true, chatId, version: 8 };
  };
  const query = `mutation ($input: ArchiveChatInput!) {
    first: archiveChat(input: $input) { chat { title } userErrors { code } }
    second: archiveChat(input: $input) { chat { title } userErrors { code } } }`;
  const commands = { ...neverAsked, archiveChat };
  expect(await ask(anna, query, { input: { chatId: encodeId("chat", chatId) } }, { commands })).toEqual({
    data: {
      first: { chat: { title: "before+" }, userErrors: [] },
      second: { chat: { title: "before++" }, userErrors: [] },
    },
  });
});

describe("chatEvents", () => {
  const document = parse(`subscription ($chatId: ID!) { chatEvents(chatId: $chatId) {
    __typename ... on StreamEvent { cursor }
    ... on ChatRefreshEvent { refresh: reason chat { title } }
    ... on ChatPartEvent { generation { id attempt } sequence role partIndex delta {
      __typename ... on TextDelta { append } ... on ToolCallPart { toolName arguments } } }
    ... on ChatRetryEvent { retry { attempt retryingAt failure { kind isRetryable } } }
    ... on ChatStatusEvent { status chat { title } }
    ... on ChatActionRequiredEvent { toolCalls { toolCallId arguments } deadline } } }`);

  async function collect(viewer: Viewer, chatId: string, events: ChatEvent[] | null): Promise<unknown> {
    async function* source() {
      yield* events ?? [];
    }
    const chatEvents: Context["chatEvents"] = { subscribe: () => Promise.resolve(events && source()) };
    const variableValues = { chatId: encodeId("chat", chatId) };
    const contextValue = contextOf(db, viewer, { chatEvents });
    const results = await subscribe({ schema, document, variableValues, contextValue });
    if (!(Symbol.asyncIterator in results)) return problems(results);
    const received: unknown[] = [];
    for await (const result of results) received.push(result.errors ?? result.data?.["chatEvents"]);
    return JSON.parse(JSON.stringify(received));
  }

  test("are refused without revealing whether the chat exists", async () => {
    expect(await collect(bert, randomUUID(), null)).toEqual([
      ["FORBIDDEN", "The chat does not exist or is not visible to you."],
    ]);
  });

  test("are converted to API objects", async () => {
    const chatId = await insertChat(db, { ownerId: anna.userId, title: "told" });
    const generation = { historyVersion: 6, attempt: 1 };
    const part = { type: "part" as const, generation, role: "assistant" as const, partIndex: 0 };
    const failure = { kind: "rate_limited" as const, message: "Slow down.", isRetryable: true };
    const calls = [{ toolCallId: "c1", toolName: "pick", isClient: true, arguments: { a: 1 } }];
    const seen = await collect(anna, chatId, [
      { cursor: "1", type: "refresh", reason: "first_snapshot", chatId },
      { cursor: "2", ...part, sequence: 1, delta: { type: "text-delta", append: "Hel" } },
      {
        cursor: "3",
        ...part,
        sequence: 2,
        delta: { type: "tool-call", toolCallId: "c1", toolName: "pick", arguments: { a: 1 } },
      },
      { cursor: "4", type: "retry", generation, retry: { attempt: 1, delayMs: 5, retryingAt: 0, failure } },
      { cursor: "5", type: "action-required", calls, deadline: 1 },
      { cursor: "6", type: "status", status: "requires_action", chatId },
    ]);
    const location = { generation: { id: "gen_6_1", attempt: 1 }, role: "ASSISTANT", partIndex: 0 };
    expect(seen).toEqual([
      { __typename: "ChatRefreshEvent", cursor: "1", refresh: "FIRST_SNAPSHOT", chat: { title: "told" } },
      {
        __typename: "ChatPartEvent",
        cursor: "2",
        ...location,
        sequence: 1,
        delta: { __typename: "TextDelta", append: "Hel" },
      },
      {
        __typename: "ChatPartEvent",
        cursor: "3",
        ...location,
        sequence: 2,
        delta: { __typename: "ToolCallPart", toolName: "pick", arguments: { a: 1 } },
      },
      {
        __typename: "ChatRetryEvent",
        cursor: "4",
        retry: {
          attempt: 1,
          retryingAt: "1970-01-01T00:00:00.000Z",
          failure: { kind: "RATE_LIMITED", isRetryable: true },
        },
      },
      {
        __typename: "ChatActionRequiredEvent",
        cursor: "5",
        toolCalls: [{ toolCallId: "c1", arguments: { a: 1 } }],
        deadline: "1970-01-01T00:00:00.001Z",
      },
      { __typename: "ChatStatusEvent", cursor: "6", status: "REQUIRES_ACTION", chat: { title: "told" } },
    ]);
  });
});
