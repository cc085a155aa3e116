// Queries through the schema: access and pagination.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeId } from "../../../src/domain/common/ids.js";
import type { Viewer } from "../../../src/domain/users/viewer.js";
import { Database } from "../../../src/store/common/database.js";
import { ensureDefaultProviders } from "../../../src/store/models/default-models.js";
import { ensureLocalWorkspace } from "../../../src/store/workspaces/workspaces.js";
import { type TestDatabase, createTestDatabase } from "../../support/database/database.js";
import { insertChat, insertMessage, insertQueue, insertViewer } from "../../support/database/rows.js";
import { type Ask, askingOver, problems } from "../../support/users/schema-caller.js";

let own: TestDatabase;
let db: Database;
let ask: Ask;
let anna: Viewer;
let bert: Viewer;
let admin: Viewer;
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
  ask = askingOver(db);
  [anna, bert, admin] = [await insertViewer(db), await insertViewer(db), await insertViewer(db, "admin")];
});
afterAll(() => own.drop());

describe("node", () => {
  test("finds each kind of object for users who can see it, and nothing for others", async () => {
    const workspace = await ensureLocalWorkspace(db, { ownerId: anna.userId, directory: "/a", name: "a" });
    const { provider, modelConfig } = await ensureDefaultProviders(db, { anthropic: {} });
    const chatId = await insertChat(db, { ownerId: anna.userId });
    const messageId = await insertMessage(db, { chatId, text: "hi" });
    const [queuedId = ""] = await insertQueue(db, { chatId, authorId: anna.userId, texts: ["later"] });
    const ids = [
      encodeId("chat", chatId),
      encodeId("msg", messageId),
      encodeId("que", queuedId),
      encodeId("user", anna.userId),
      encodeId("ws", workspace.id),
      encodeId("prov", provider.id),
      encodeId("model", modelConfig.id),
      encodeId("chat", randomUUID()),
    ];
    const query = "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }";
    const own = ["Chat", "ChatMessage", "QueuedMessage", "User", "Workspace"];
    const shared = ["ModelProvider", "ModelConfig"];
    const typesFor = async (viewer: Viewer) => {
      const result = await ask(viewer, query, { ids });
      const nodes = result.data?.["nodes"] as ({ __typename: string; id: string } | null)[];
      return nodes.map((node, index) => node && [node.__typename, node.id === ids[index]]);
    };
    const seen = (names: string[]) => names.map((name) => [name, true]);
    expect(await typesFor(anna)).toEqual([...seen(own), ...seen(shared), null]);
    expect(await typesFor(admin)).toEqual([...seen(own), ...seen(shared), null]);
    expect(await typesFor(bert)).toEqual([null, null, null, null, null, ...seen(shared), null]);
  });

  test("reports invalid IDs", async () => {
    const result = await ask(anna, '{ node(id: "chat_12") { id } chat(id: "msg_12") { id } }');
    expect(problems(result).sort((a, b) => (String(a) < String(b) ? -1 : 1))).toEqual([
      ["BAD_USER_INPUT", 'id must be an ID issued by this server, but is "chat_12".'],
      ["BAD_USER_INPUT", 'id must be the ID of a chat (chat_…), but is "msg_12", the ID of a message.'],
    ]);
  });
});

describe("a history of large messages", () => {
  test("comes in shorter pages, and an excessive total is not read", async () => {
    const viewer = await insertViewer(db);
    const chatId = await insertChat(db, { ownerId: viewer.userId });
    const ids: string[] = [];
    for (let index = 0; index < 8; index += 1)
      ids.push(encodeId("msg", await insertMessage(db, { chatId, text: `${index}`.repeat(1_500_000) })));
    const id = encodeId("chat", chatId);
    const page = "nodes { id } pageInfo { hasPreviousPage }";
    const query = `query ($id: ID!, $last: Int!) { chat(id: $id) { messages(last: $last) { ${page} } } }`;
    expect((await ask(viewer, query, { id, last: 8 })).data).toEqual({
      chat: {
        messages: { nodes: ids.slice(2).map((of) => ({ id: of })), pageInfo: { hasPreviousPage: true } },
      },
    });
    const pages = [5, 6, 7, 8].map((last) => `of${last}: messages(last: ${last}) { ${page} }`);
    const results = await Promise.all([
      ask(viewer, `query ($id: ID!) { chat(id: $id) { ${pages.join(" ")} } }`, { id }),
      ask(viewer, "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", { ids: [...ids, ...ids] }),
      ask(viewer, "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", { ids: [...ids, id] }),
    ]);
    const codes = results.map((result) => new Set(problems(result).map(([code]) => code)));
    expect(codes).toEqual([new Set(["ANSWER_TOO_LARGE"]), new Set(), new Set()]);
  });
});

describe("chats", () => {
  test("are read with all linked objects in one statement per kind", async () => {
    const viewer = await insertViewer(db);
    for (const title of ["one", "two", "three"]) {
      const chatId = await insertChat(db, { ownerId: viewer.userId, title, labels: { b: "2", a: "1" } });
      await insertMessage(db, { chatId, text: title, authorId: viewer.userId });
      await insertQueue(db, { chatId, authorId: viewer.userId, texts: [title] });
    }
    const before = db.counters.statements;
    const result = await ask(
      viewer,
      `{ chats(first: 3, orderBy: RECENTLY_CREATED) { nodes {
           title status labels { key value } owner { name } pendingToolCalls { toolName } workspace { id }
           queuedMessages { parts { ... on TextPart { text } } author { name } }
           messages(last: 1) { nodes { role parts { ... on TextPart { text } } author { username } chat { title } } }
       } pageInfo { hasNextPage hasPreviousPage } } }`,
    );
    const expected = (title: string) => ({
      title,
      status: "WAITING",
      labels: [
        { key: "a", value: "1" },
        { key: "b", value: "2" },
      ],
      owner: { name: viewer.name },
      pendingToolCalls: [],
      workspace: null,
      queuedMessages: [{ parts: [{ text: title }], author: { name: viewer.name } }],
      messages: {
        nodes: [
          { role: "USER", parts: [{ text: title }], author: { username: viewer.username }, chat: { title } },
        ],
      },
    });
    expect(result).toEqual({
      data: {
        chats: {
          nodes: ["three", "two", "one"].map(expected),
          pageInfo: { hasNextPage: false, hasPreviousPage: false },
        },
      },
    });
    // List, owners, queues, message pages, chats of messages.
    expect(db.counters.statements - before).toBe(5);
  });

  test("can be paged by cursor, which is only valid for one sort order", async () => {
    const viewer = await insertViewer(db);
    for (let index = 0; index < 30; index += 1) {
      await insertChat(db, { ownerId: viewer.userId, title: `${index}`, createdAt: `2026-01-${index + 1}` });
    }
    const query = `query ($first: Int, $after: String, $last: Int, $orderBy: ChatOrder) {
      chats(first: $first, after: $after, last: $last, orderBy: $orderBy) {
        edges { cursor node { title } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`;
    type Connection = {
      edges: { cursor: string; node: { title: string } }[];
      pageInfo: { endCursor: string; hasNextPage: boolean; hasPreviousPage: boolean };
    };
    const page = async (variables: object) => {
      const result = await ask(viewer, query, { orderBy: "RECENTLY_CREATED", ...variables });
      return result.data?.["chats"] as Connection;
    };
    const first = await page({});
    const rest = await page({ after: first.pageInfo.endCursor });
    const oldest = await page({ last: 2 });
    const other = await ask(viewer, query, { orderBy: "RECENTLY_UPDATED", after: first.pageInfo.endCursor });
    expect([first.edges.length, rest.edges.length, oldest.edges.map((edge) => edge.node.title)]).toEqual([
      25,
      5,
      ["1", "0"],
    ]);
    expect([...first.edges, ...rest.edges].map((edge) => edge.node.title)).toEqual(
      Array.from({ length: 30 }, (_, index) => `${29 - index}`),
    );
    expect(problems(other)).toEqual([
      [
        "BAD_USER_INPUT",
        "after must be a cursor of this list with this sort order, from its edges or pageInfo.",
      ],
    ]);
  });

  test.each([
    ["first: 2, last: 2", "Pass either first or last, not both."],
    ["first: 0", "first must be between 1 and 100, but is 0."],
    ["last: 101", "last must be between 1 and 100, but is 101."],
    [
      'after: "nonsense"',
      "after must be a cursor of this list with this sort order, from its edges or pageInfo.",
    ],
    [
      `before: "${Buffer.from("p1|chats.updated|1; DROP|x").toString("base64url")}"`,
      "before must be a cursor of this list with this sort order, from its edges or pageInfo.",
    ],
  ])("refuse a page of %s", async (args, message) => {
    expect(problems(await ask(anna, `{ chats(${args}) { nodes { id } } }`))).toEqual([
      ["BAD_USER_INPUT", message],
    ]);
  });

  test("accept any characters in filters, even null bytes", async () => {
    const filter = {
      archived: null,
      search: "%_\\\u0000",
      statuses: ["WAITING", "REQUIRES_ACTION"],
      labels: [{ key: "a\u0000", value: "'" }],
      ownerId: encodeId("user", bert.userId),
    };
    const query = "query ($filter: ChatFilterInput) { chats(filter: $filter) { nodes { id } } }";
    expect(await ask(anna, query, { filter })).toEqual({ data: { chats: { nodes: [] } } });
  });
});

test("the viewer, the deployment, models and workspaces are returned as visible to each user", async () => {
  const query = `{ viewer { user { username role } permissions } deployment { version }
    modelProviders { kind hasApiKey baseUrl models { model isDefault provider { displayName } } }
    modelConfigs { model } workspaces(search: "B") { nodes { name owner { username } status } } }`;
  await ensureDefaultProviders(db, { anthropic: { baseUrl: "https://me:secret@example.org/v1" } });
  await ensureLocalWorkspace(db, { ownerId: bert.userId, directory: "/b", name: "b" });
  const models = [{ model: "claude-sonnet-5-5", isDefault: true, provider: { displayName: "Anthropic" } }];
  const expected = (
    viewer: Viewer,
    more: { permissions: string[]; baseUrl: string | null; nodes: object[] },
  ) => ({
    data: {
      viewer: {
        user: { username: viewer.username, role: viewer.role.toUpperCase() },
        permissions: more.permissions,
      },
      deployment: { version: "1.2.3" },
      modelProviders: [{ kind: "ANTHROPIC", hasApiKey: true, baseUrl: more.baseUrl, models }],
      modelConfigs: [{ model: "claude-sonnet-5-5" }],
      workspaces: { nodes: more.nodes },
    },
  });
  const nodes = [{ name: "b", owner: { username: bert.username }, status: "RUNNING" }];
  expect(await ask(bert, query)).toEqual(
    expected(bert, { permissions: ["USE_CHATS"], baseUrl: null, nodes }),
  );
  const baseUrl = "https://example.org/v1";
  const permissions = [
    "USE_CHATS",
    "READ_ALL_CHATS",
    "READ_ALL_COSTS",
    "READ_AUDIT_LOG",
    "MANAGE_USERS",
    "MANAGE_MODELS",
    "MANAGE_MCP_SERVERS",
    "MANAGE_LIMITS",
    "MANAGE_DEPLOYMENT",
  ];
  expect(await ask(admin, query)).toEqual(expected(admin, { permissions, baseUrl, nodes: [] }));
});
