import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiClient } from "../../support/clients/api-client.js";
import type { ChatShown, Payload } from "../../support/clients/api-shapes.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let parley: TestParley;
let owner: ApiClient;
let other: ApiClient;
/** The owner's objects. Their chat has a response and a queued message, and is archived. */
let ids: { chat: string; message: string; queued: string; user: string; workspace: string };
beforeAll(async () => {
  environment = await createTestEnvironment();
  parley = await environment.start();
  [owner, other] = [await parley.addUser("owner"), await parley.addUser("other")];
  const { chatId, follower } = await owner.quietChat();
  await owner.send(chatId, "[[demo: hang]]");
  await follower.untilStatus("RUNNING");
  const { queuedMessage } = await owner.send(chatId, "later");
  await owner.change("archiveChat", { chatId }, "chat { id }");
  await follower.untilStatus("WAITING");
  const chat = await owner.chat(chatId);
  const { viewer } = await owner.get<{ viewer: { user: { id: string } } }>("{ viewer { user { id } } }");
  await follower.close();
  ids = {
    chat: chatId,
    message: chat?.messages.nodes[0]?.id ?? "",
    queued: queuedMessage?.id ?? "",
    user: viewer.user.id,
    workspace: parley.workspaceId,
  };
});
afterAll(() => environment.remove());

const PARTS = [{ text: { text: "hello" } }];
type Ids = typeof ids;
const MUTATIONS: [name: string, input: (use: Ids) => object, field: string][] = [
  ["sendChatMessage", (use) => ({ chatId: use.chat, parts: PARTS }), "chatId"],
  ["editChatMessage", (use) => ({ messageId: use.message, parts: PARTS }), "messageId"],
  ["interruptChat", (use) => ({ chatId: use.chat }), "chatId"],
  ["archiveChat", (use) => ({ chatId: use.chat }), "chatId"],
  ["unarchiveChat", (use) => ({ chatId: use.chat }), "chatId"],
  ["promoteQueuedMessage", (use) => ({ queuedMessageId: use.queued }), "queuedMessageId"],
  ["deleteQueuedMessage", (use) => ({ queuedMessageId: use.queued }), "queuedMessageId"],
  ["submitToolResults", (use) => ({ chatId: use.chat, results: [] }), "chatId"],
];

describe("without a valid token", () => {
  test.each<[string, string | null]>([
    ["none", null],
    ["an unknown one", "pt_nobody_made_this_token"],
    ["one that is no token", "'; DROP TABLE users; --"],
  ])("HTTP requests are refused: %s", async (_case, token) => {
    const stranger = new ApiClient(owner.url, token);
    const answers = await Promise.all(
      ["{ viewer { user { id } } }", "{ __typename }", "{ __schema { types { name } } }", "nonsense"].map(
        (query) => stranger.ask(query),
      ),
    );
    const refused = { status: 401, data: null, errors: [{ extensions: { code: "UNAUTHENTICATED" } }] };
    expect(answers).toMatchObject(answers.map(() => refused));
  });

  test.each<[string, string | null]>([
    ["none", null],
    ["an unknown one", "pt_nobody_made_this_token"],
  ])("a socket is closed: %s", async (_case, token) => {
    const follower = new ApiClient(owner.url, token).follow(ids.chat);
    expect(await follower.ended).toMatchObject({ code: 4403 });
  });
});

describe("another user's", () => {
  test("objects are not there", async () => {
    const { nodes, chat, chats, listed, workspaces } = await other.get<Record<string, unknown>>(
      `query ($ids: [ID!]!, $chat: ID!, $user: ID!) {
        nodes(ids: $ids) { id }
        chat(id: $chat) { id }
        chats { nodes { id } }
        listed: chats(filter: { ownerId: $user }) { nodes { id } }
        workspaces { nodes { id } }
      }`,
      { ids: Object.values(ids), chat: ids.chat, user: ids.user },
    );
    expect({ nodes, chat, chats, listed, workspaces }).toEqual({
      nodes: [null, null, null, null, null],
      chat: null,
      chats: { nodes: [] },
      listed: { nodes: [] },
      workspaces: { nodes: [] },
    });
  });

  test.each(MUTATIONS)("objects cannot be changed by %s", async (name, input, field) => {
    const before = await owner.chat(ids.chat);
    const payload = await other.change<Payload>(name, input(ids), "chat { id }");
    expect(payload).toMatchObject({
      chat: null,
      userErrors: [{ __typename: "NotFound", code: "NOT_FOUND", path: [field] }],
    });
    expect(await owner.chat(ids.chat)).toEqual(before);
  });

  test("workspace cannot be worked in", async () => {
    const input = { parts: PARTS, workspaceId: ids.workspace };
    expect(await other.change("createChat", input, "chat { id }")).toMatchObject({
      chat: null,
      userErrors: [{ __typename: "NotFound", path: ["workspaceId"] }],
    });
  });

  test("chat cannot be subscribed to", async () => {
    const follower = other.follow(ids.chat);
    expect(await follower.ended).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
    const nobodys = other.follow("chat_00000000-0000-4000-8000-000000000000");
    expect(await nobodys.ended).toEqual(await follower.ended);
  });
});

test("owners and admins see the owner's objects, and only admins see admin fields", async () => {
  const query = `query ($ids: [ID!]!, $user: ID!) {
    nodes(ids: $ids) { id }
    chats(filter: { ownerId: $user, archived: true }) { nodes { id } }
    viewer { permissions }
  }`;
  const variables = { ids: Object.values(ids), user: ids.user };
  const all = Object.values(ids).map((id) => ({ id }));
  expect([await owner.get(query, variables), await parley.api.get(query, variables)]).toEqual([
    // The workspace belongs to the admin.
    {
      nodes: [...all.slice(0, 4), null],
      chats: { nodes: [{ id: ids.chat }] },
      viewer: { permissions: ["USE_CHATS"] },
    },
    {
      nodes: all,
      chats: { nodes: [{ id: ids.chat }] },
      viewer: { permissions: expect.arrayContaining(["USE_CHATS", "READ_ALL_CHATS"]) },
    },
  ]);
  const follower = parley.api.follow(ids.chat);
  await follower.until(({ isCaughtUp }) => isCaughtUp);
  await follower.close();
});

describe("IDs of the wrong kind are refused with the field's name", () => {
  /** IDs of the wrong type: a message's instead of a chat's, and so on. */
  const wrong = (): Ids => ({ ...ids, chat: ids.message, message: ids.chat, queued: ids.user });

  test.each(MUTATIONS)("in %s", async (name, input, field) => {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
    const query = `mutation ($input: ${type}) { ${name}(input: $input) { chat { id } } }`;
    const { errors } = await owner.ask(query, { input: input(wrong()) });
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining(`${field} must be the ID of`),
        extensions: { code: "BAD_USER_INPUT" },
      },
    ]);
  });

  test.each([
    ["chat(id)", "query ($id: ID!) { chat(id: $id) { id } }", "id must be the ID of a chat"],
    [
      "createChat",
      "mutation ($id: ID!) { createChat(input: { parts: [], workspaceId: $id }) { chat { id } } }",
      "workspaceId must be",
    ],
    [
      "createChat",
      "mutation ($id: ID!) { createChat(input: { parts: [], modelConfigId: $id }) { chat { id } } }",
      "modelConfigId must be",
    ],
    [
      "chats(ownerId)",
      "query ($id: ID!) { chats(filter: { ownerId: $id }) { nodes { id } } }",
      "ownerId must be the ID of a user",
    ],
    [
      "chats(workspaceId)",
      "query ($id: ID!) { chats(filter: { workspaceId: $id }) { nodes { id } } }",
      "workspaceId must be the ID of a workspace",
    ],
  ])("in %s", async (_case, query, message) => {
    const { errors } = await owner.ask(query, { id: ids.message });
    expect(errors).toMatchObject([
      { message: expect.stringContaining(message), extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });

  test.each([
    "",
    "chat_",
    "chat_1",
    "msg_-1",
    "msg_99999999999999999999",
    "chat_\u0000",
    "que_' OR 1=1",
    "x".repeat(9_000),
  ])("in node(id), even if it is not an ID at all: %#", async (id) => {
    const { errors } = await owner.ask("query ($id: ID!) { node(id: $id) { id } }", { id });
    expect(errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
    expect(errors[0]?.message.length).toBeLessThan(500);
  });
});

test("an archived chat refuses everything that would start a turn, with a reason", async () => {
  const refused = {
    __typename: "Conflict",
    code: "CONFLICT",
    message: "The chat is archived. Unarchive it first.",
  };
  for (const [name, input] of MUTATIONS) {
    if (name === "archiveChat" || name === "unarchiveChat") continue;
    const payload = await owner.change<Payload>(name, input(ids), "chat { id }");
    expect([name, payload]).toMatchObject([name, { chat: null, userErrors: [refused] }]);
  }
  const shown: ChatShown | null = await owner.chat(ids.chat);
  expect([shown?.status, shown?.queuedMessages.length]).toEqual(["WAITING", 1]);
});
