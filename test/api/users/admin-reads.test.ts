// Admins' reads of other users' objects are audited: through every API, once an hour, on every server.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { decodeId, encodeId } from "../../../src/domain/common/ids.js";
import { findUserByUsername } from "../../../src/store/users/users.js";
import { ResponseBudget } from "../../../src/resolvers/common/response-budget.js";
import { Loaders } from "../../../src/resolvers/common/loaders.js";
import { ApiClient } from "../../support/clients/api-client.js";
import { insertTestFile } from "../../support/files.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { insertChat, insertMessage, insertQueue } from "../../support/database/rows.js";
import { followAsEvents } from "../rights/subscribe-once.js";

let environment: TestEnvironment;
let server: TestParley;
let second: TestParley;
let owner: ApiClient;
let ownerId: string;
let adminId: string;
/** Created for each test, so that no read of it has been recorded. */
let chat: { uuid: string; id: string; messageId: string; queuedId: string; fileId: string };
beforeAll(async () => {
  environment = await createTestEnvironment();
  [server, second] = [await environment.start(), await environment.start({ PARLEY_ROLE: "api" })];
  owner = await server.addUser("owner");
  [ownerId, adminId] = [await idOf("owner"), await idOf("admin")];
});
afterAll(() => environment.remove());
beforeEach(async () => {
  await environment.database.dataSource.query("DELETE FROM audit_log");
  chat = await makeChat(ownerId);
});

async function idOf(username: string): Promise<string> {
  return (await findUserByUsername(server.parley.database, username))?.id ?? "";
}

async function makeChat(ownerId: string) {
  const { database } = server.parley;
  const uuid = await insertChat(database, { ownerId: ownerId, title: "Plans" });
  const queue = await insertQueue(database, { chatId: uuid, authorId: ownerId, texts: ["Later"] });
  const bytes = Buffer.from("plans");
  const file = { name: "plans.txt", mediaType: "text/plain", bytes };
  const fileId = await insertTestFile(database, { ownerId: ownerId }, file);
  return {
    uuid,
    id: encodeId("chat", uuid),
    messageId: encodeId("msg", await insertMessage(database, { chatId: uuid, text: "Hello" })),
    queuedId: encodeId("que", queue[0] ?? ""),
    fileId: encodeId("file", fileId),
  };
}

type Line = {
  action: string;
  target_kind: string;
  target_id: string;
  target_name: string;
  actor_name: string;
};
async function lines(): Promise<Line[]> {
  return environment.database.dataSource.query<Line[]>(
    "SELECT actor_name, action, target_kind, target_id, target_name FROM audit_log ORDER BY id",
  );
}
const chatRead = () => ({
  ...{ actor_name: "admin", action: "chat_read", target_kind: "chat" },
  ...{ target_id: chat.id, target_name: "Plans" },
});

const node = (api: ApiClient, id: string) => api.get("query ($id: ID!) { node(id: $id) { id } }", { id });
const follow = (subscription: string) => (api: ApiClient) =>
  followAsEvents(api, {
    query: `subscription ($id: ID!) { ${subscription} }`,
    variables: { id: chat.id },
  });
const list =
  (nodes: string, fragment = "") =>
  (api: ApiClient) => {
    const chats = `chats(first: 1, orderBy: RECENTLY_CREATED, filter: { ownerId: $id }) ${nodes}`;
    return api.get(`query ($id: ID!) { ${chats} } ${fragment}`, { id: encodeId("user", ownerId) });
  };
const mutate = (name: string, input: () => object) => (api: ApiClient) =>
  api.change(name, input(), "__typename");

const WAYS: [string, (api: ApiClient) => Promise<unknown>][] = [
  ["chat(id)", (api) => api.chat(chat.id)],
  [
    "chat(id), for its cost",
    (api) => api.get("query ($id: ID!) { chat(id: $id) { cost { totalMicros } } }", chat),
  ],
  ["node(id) of the chat", (api) => node(api, chat.id)],
  ["nodes(ids)", (api) => api.get("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", { ids: [chat.id] })],
  ["node(id) of a message", (api) => node(api, chat.messageId)],
  ["node(id) of a queued message", (api) => node(api, chat.queuedId)],
  ["chats, with what was said", list("{ nodes { id messages { nodes { id } } } }")],
  [
    "chats by edges and a fragment",
    list("{ edges { node { ...Said } } }", "fragment Said on Chat { messages { nodes { id } } }"),
  ],
  ["chatEvents", follow("chatEvents(chatId: $id) { __typename }")],
  ["updateChat, without asking for the chat", mutate("updateChat", () => ({ chatId: chat.id, labels: [] }))],
  ["interruptChat", mutate("interruptChat", () => ({ chatId: chat.id }))],
  ["deleteQueuedMessage", mutate("deleteQueuedMessage", () => ({ queuedMessageId: chat.queuedId }))],
];

describe.each(WAYS)("%s", (_name, ask) => {
  test("leaves one entry if an admin reads, even repeatedly and on another server", async () => {
    await ask(server.api);
    expect(await lines()).toEqual([chatRead()]);
    await server.api.chat(chat.id);
    await new ApiClient(second.api.url, server.api.token).chat(chat.id);
    expect(await lines()).toEqual([chatRead()]);
  });

  test("leaves none if the owner reads", async () => {
    await ask(owner);
    expect(await lines()).toEqual([]);
  });
});

test("many concurrent reads on two servers leave one entry per admin", async () => {
  const other = await server.addUser("other admin", "admin");
  const asks = [server.api, other].flatMap(({ token }) =>
    [server.api.url, second.api.url].flatMap(
      (url) => Array(5).fill(new ApiClient(url, token)) as ApiClient[],
    ),
  );
  await Promise.all(asks.map((api) => api.chat(chat.id)));
  expect((await lines()).map(({ actor_name }) => actor_name).sort()).toEqual(["admin", "other admin"]);
});

test("after an hour there is another entry", async () => {
  await server.api.chat(chat.id);
  const past = (interval: string) =>
    environment.database.dataSource.query(
      `UPDATE admin_reads SET noted_at = now() - interval '${interval}' WHERE target_id = $1`,
      [chat.uuid],
    );
  await past("59 minutes");
  await second.api.chat(chat.id);
  expect(await lines()).toHaveLength(1);
  const third = await environment.start({ PARLEY_ROLE: "api" });
  await past("60 minutes");
  await third.api.chat(chat.id);
  await third.close();
  expect(await lines()).toEqual([chatRead(), chatRead()]);
});

test("an admin's reads of their own objects leave no entry", async () => {
  chat = await makeChat(adminId);
  for (const [, ask] of WAYS) await ask(server.api);
  await node(server.api, chat.fileId);
  // One of the queries reads the owner's list.
  expect((await lines()).filter(({ target_id }) => target_id.includes(chat.uuid))).toEqual([]);
});

test("a list of titles is one entry about the user, not one per chat", async () => {
  await list("{ nodes { id title status } edges { node { __typename ... { updatedAt } } } }")(server.api);
  await list("{ nodes { id title } }")(second.api);
  expect(await lines()).toEqual([
    {
      ...{ actor_name: "admin", action: "chats_listed", target_kind: "user" },
      ...{ target_id: encodeId("user", ownerId), target_name: "owner" },
    },
  ]);
});

test.each([
  ["its address is read", (api: ApiClient) => node(api, chat.fileId)],
  [
    "its bytes are fetched",
    (api: ApiClient) =>
      fetch(`${api.url}/files/${chat.fileId}`, { headers: { authorization: `Bearer ${api.token}` } }),
  ],
])("a file is audited when %s by an admin, and not by its owner", async (_how, ask) => {
  await ask(owner);
  expect(await lines()).toEqual([]);
  await ask(server.api);
  await ask(second.api);
  expect(await lines()).toEqual([
    {
      ...{ actor_name: "admin", action: "file_read", target_kind: "file" },
      ...{ target_id: chat.fileId, target_name: "plans.txt" },
    },
  ]);
});

test("objects that do not exist, and refused reads of members, leave no entry", async () => {
  const stranger = await server.addUser("stranger");
  await stranger.chat(chat.id);
  await follow("chatEvents(chatId: $id) { __typename }")(stranger);
  await server.api.chat("chat_00000000-0000-4000-8000-000000000000");
  expect(await lines()).toEqual([]);
});

test("owners' reads cause no lookups: only reads of other users' objects are recorded", async () => {
  const { database } = server.parley;
  const viewer = { username: "owner", name: "Owner", expiresAt: null };
  const notedFor = async (more: { userId: string; role: "member" | "admin" }) => {
    const noted: string[] = [];
    const loaders = new Loaders({
      database,
      viewer: { ...viewer, ...more },
      readMcpAccountStates: () => Promise.resolve(new Map()),
      noteReads: async (kind, ids) => void noted.push(...ids.map((id) => `${kind}_${id}`)),
      budget: new ResponseBudget(16_777_216),
    });
    await loaders.chats.load(chat.uuid);
    await loaders.messages.load(decodeId("msg", chat.messageId) ?? "");
    await loaders.queuedMessages.load(decodeId("que", chat.queuedId) ?? "");
    await loaders.files.load(decodeId("file", chat.fileId) ?? "");
    return noted;
  };
  expect(await notedFor({ userId: ownerId, role: "admin" })).toEqual([]);
  expect(await notedFor({ userId: adminId, role: "member" })).toEqual([]);
  expect(await notedFor({ userId: adminId, role: "admin" })).toEqual([
    chat.id,
    chat.id,
    chat.id,
    chat.fileId,
  ]);
});
